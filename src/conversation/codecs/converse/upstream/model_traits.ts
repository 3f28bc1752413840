import type { RequestTarget } from "../../../contract/upstream_format.ts";

/** How a family of models is asked to reason, in fields of its own. */
export type ReasoningFields = "nova" | "gpt_oss";

/** What a model supports in this format. Vendors reject requests with anything else. */
export interface ModelTraits {
  /** Whether prefixes of instructions and messages can be cached by marks. No model here caches tools. */
  readonly takesCachePoints: boolean;
  /** Whether the result of a tool can be marked as an error. */
  readonly takesToolStatus: boolean;
  /** Whether `topK` is supported. */
  readonly takesTopK: boolean;
  /** Whether the text of a last turn of the assistant is continued. */
  readonly takesPrefill: boolean;
  /** Whether `outputConfig` and `strict` of tools are supported. */
  readonly takesSchemas: boolean;
  /** False when temperature and topP are rejected. */
  readonly takesSampling: boolean;
  /** Null where reasoning cannot be controlled. */
  readonly reasoning: ReasoningFields | null;
}

/** Amazon's models. */
const NOVA = /(?:^|[./])amazon\.nova-/;
/** Those of them that reason on request. Source: Amazon Nova 2 User Guide, "Extended thinking". */
const NOVA_2 = /(?:^|[./])amazon\.nova-2-/;
/** Source: Amazon Bedrock User Guide, "OpenAI models". */
const GPT_OSS = /(?:^|[./])openai\.gpt-oss-/;
/** Models without structured outputs. Source: Amazon Bedrock User Guide, "Structured outputs", "Supported models". */
const WITHOUT_SCHEMAS = /(?:^|[./])(?:amazon|meta|cohere|ai21|writer|deepseek\.r1|mistral\.(?:mistral-7b|mixtral))[.-]/;

/**
 * The traits of a model, by its family. A model whose name shows no family, such as the ARN of an application inference
 * profile, is treated as one without the features of single families.
 */
export function traitsOf({ model, facts, quirks }: Pick<RequestTarget, "model" | "facts" | "quirks">): ModelTraits {
  const isNova = NOVA.test(model);
  return {
    takesCachePoints: isNova,
    takesToolStatus: isNova,
    takesTopK: isNova,
    takesPrefill: facts.canPrefill ?? isNova,
    takesSchemas: facts.hasOutputSchemas !== false && !quirks.has("no_output_schemas") && !WITHOUT_SCHEMAS.test(model),
    takesSampling: facts.samplingSupport !== "never",
    reasoning: facts.canReason === false ? null : NOVA_2.test(model) ? "nova" : GPT_OSS.test(model) ? "gpt_oss" : null,
  };
}
