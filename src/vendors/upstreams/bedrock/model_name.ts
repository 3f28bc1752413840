/** Names of Anthropic's models, also in inference profiles (`us.anthropic.claude-…`) and ARNs, or such a prefix. */
const ANTHROPIC = /(?:^|[./])anthropic[./]/;
/** The prefix of a name that does not show its maker. */
const PREFIX = /^(?:anthropic|cohere|titan)\//;
/** The prefixes of inference profiles that serve a model in several regions. */
const REGIONS = /^(?:us-gov|us|eu|apac|jp|au|ca|sa|me|af|global)\./;

/** Whether a model is Anthropic's, as its name states it: `anthropic.claude-…`, or `anthropic/` before an ARN. */
export function isAnthropic(model: string): boolean {
  return ANTHROPIC.test(model);
}

/** The id or ARN of a model as a segment of a path. */
export function pathNameOf(model: string): string {
  return encodeURIComponent(model.replace(PREFIX, ""));
}

/** The id of the model itself as a segment of a path: without the regions of an inference profile. */
export function countedPathNameOf(model: string): string {
  const name = model.replace(PREFIX, "");
  return encodeURIComponent(name.replace(/^arn:[^/]*:inference-profile\//, "").replace(REGIONS, ""));
}
