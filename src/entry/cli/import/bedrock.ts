import { CONFIGURED_VENDORS } from "../../../vendors/upstreams/configured_vendors.ts";
import type { ImportedConfig, Written } from "./imported_config.ts";

/** A model of Bedrock as LiteLLM names it. */
export interface BedrockModel {
  /** The id, or an ARN; one that does not show Anthropic has the prefix by which kind `bedrock` knows it. */
  readonly model: string;
  /** Null if the name has none. */
  readonly region: string | null;
}

/** How a model is called there, which follows from its name here. */
const ROUTES = /^(?:converse|converse_like|invoke)\//;
/** Other APIs, and models that were imported there, whose formats are those of their makers. */
const OTHER_ROUTES = /^(?:agent|agentcore|async_invoke|mantle|openai|llama|deepseek_r1|qwen2|qwen3|moonshot|nova)\//;
const REGION = /^([a-z]{2}(?:-[a-z]+)+-\d)\//;

/**
 * A model by its name after `bedrock/`. Null for one in a format that this gateway does not have there. Source: LiteLLM
 * documentation, "AWS Bedrock".
 *
 * @param base The model behind an ARN, as far as the source tells it.
 */
export function bedrockModelOf(name: string, base: string | null): BedrockModel | null {
  const routed = name.replace(ROUTES, "");
  if (OTHER_ROUTES.test(routed)) return null;
  const region = REGION.exec(routed)?.[1] ?? null;
  // A commitment follows the region: `us-west-2/1-month-commitment/…`.
  const model = routed.replace(REGION, "").replace(/^\d-month-commitment\//, "");
  const isHidden = model.startsWith("arn:") && !/anthropic\./.test(model);
  return { model: isHidden && /anthropic|claude/.test(base ?? "") ? `anthropic/${model}` : model, region };
}

/** Settings of Bedrock in another program. */
export interface BedrockSettings {
  readonly apiKey: string | null;
  readonly accessKey: string | null;
  readonly secretKey: string | null;
  readonly sessionToken: string | null;
  /** Null if the other program reads it from the environment. */
  readonly region: string | null;
  /** Null for that of the region. */
  readonly address: string | null;
}

/** Source: LiteLLM, `llms/bedrock/base_aws_llm.py`; Bifrost, `providers/bedrock`. */
const DEFAULT_REGIONS = { litellm: "us-west-2", bifrost: "us-east-1" };

/**
 * The fields of a provider of kind `bedrock`. Null, with a note, if half of a key pair is missing.
 *
 * @param place In the source, for the report.
 */
export function bedrockFields(
  config: ImportedConfig,
  { apiKey, accessKey, secretKey, sessionToken, region, address }: BedrockSettings,
  { place, program }: { readonly place: string; readonly program: keyof typeof DEFAULT_REGIONS },
): Record<string, Written> | null {
  if ((accessKey === null) !== (secretKey === null)) {
    config.drop(place, "it has an access key without its secret key, or the other way round");
    return null;
  }
  const { keyNames: [keyName], pairNames, sessionTokenName, regionNames: [regionName] } = CONFIGURED_VENDORS.bedrock;
  const [accessKeyName, secretKeyName] = pairNames;
  const valueOf = (text: string | null, name: string) =>
    text === null ? config.variable(name) : config.secret(text, name);
  return {
    kind: "bedrock",
    region: region === null ? config.variable(regionName, "name", DEFAULT_REGIONS[program]) : config.name(region),
    ...(address !== null && { base_url: config.address(address) }),
    ...(apiKey !== null ? { api_key: config.secret(apiKey, keyName) } : {
      api_key: valueOf(accessKey, accessKeyName),
      secret_key: valueOf(secretKey, secretKeyName),
      ...(sessionToken !== null && { session_token: config.secret(sessionToken, sessionTokenName) }),
    }),
  };
}
