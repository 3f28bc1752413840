import * as z from "zod";
import { setting } from "../../platform/lib/settings/setting.ts";
import { type ReadContext, seconds, text } from "../../platform/lib/settings/settings.ts";
import { matchesWildcard } from "../../money/limits/wildcard.ts";
import { providerPartOf } from "./catalog.ts";
import { type Model, readModel } from "./model.ts";
import { MAX_NAME_LENGTH } from "./model_name.ts";
import { WRITTEN_PRICE_NAMES } from "./prices/price_settings.ts";

/** An entry of `models` for the models that a provider lists. Source: docs/routing.md#models-that-a-provider-lists. */
export interface ModelPattern {
  /** `openrouter/*` for all models, `openrouter/meta-llama/*` for those whose vendor name has that prefix. */
  readonly id: string;
  /** The provider that lists and serves the models. Default: the first part of the id. */
  readonly provider: string;
  /** The prefix of the vendor's names: `meta-llama/`, or empty. */
  readonly before: string;
  /** The vendor's names that are served, with stars for any characters. Absent: all that begin with `before`. */
  readonly allow?: readonly string[];
  /** Whether models without a price may be used: prices, or `pricing: free`, were given. Default: false. */
  readonly servesUnpriced: boolean;
  /**
   * Fields of a model as the operator writes them, for properties that neither the vendor nor the built-in list
   * provides.
   */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The refresh interval of the list in milliseconds. Default: an hour. */
  readonly refreshMs: number;
}

const PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/(?:[A-Za-z0-9@_~][A-Za-z0-9._:@+~/-]{0,127})?\*$/;
const ID_EXPECTATION = '"<provider>/*", or the beginning of names before the star, such as "openrouter/qwen/*"';
/** The refresh interval of a list that states none, in milliseconds. */
const DEFAULT_REFRESH_MS = 3_600_000;
const PRICING_EXPECTATION = "free, or a section with at least one price";

/** The schema of an entry of `models` whose id ends in a star. */
export const modelPatternSchema = z.strictObject({
  id: z.string(ID_EXPECTATION).max(MAX_NAME_LENGTH, ID_EXPECTATION).regex(PATTERN, ID_EXPECTATION),
  serves: z.array(z.strictObject({ provider: text(1, 64) })).length(1, "a list of one provider").optional(),
  refresh: setting(seconds(10, 604_800), {
    default: DEFAULT_REFRESH_MS / 1_000,
    text: "Of an id with a star: between two reads of the provider's list",
    example: 600,
  }),
  pricing: z.unknown().optional(),
  pricing_tiers: z.unknown().optional(),
  owned_by: z.unknown().optional(),
  context_length: z.unknown().optional(),
  architecture: z.unknown().optional(),
  top_provider: z.unknown().optional(),
  per_request_limits: z.unknown().optional(),
  supported_parameters: z.unknown().optional(),
  default_parameters: z.unknown().optional(),
  facts: z.unknown().optional(),
  fallbacks: z.unknown().optional(),
});

/** The pattern of `discover` of a provider: the models that it lists and that have a price. */
export function discoveryPattern(provider: string, allow: readonly string[]): ModelPattern {
  const refreshMs = DEFAULT_REFRESH_MS;
  return { id: `${provider}/*`, provider, before: "", allow, servesUnpriced: false, fields: {}, refreshMs };
}

/** Whether a pattern stands for a model of its provider, by the vendor's name. */
export function isNamedBy({ before, allow }: ModelPattern, name: string): boolean {
  return name.startsWith(before) && (allow?.some((pattern) => matchesWildcard(pattern, name)) ?? true);
}

/** Whether an entry of `models` is a pattern for {@linkcode readModelPattern}: its id has a star. */
export function isModelPattern(entry: unknown): boolean {
  const id = typeof entry === "object" && entry !== null && "id" in entry ? entry.id : null;
  return typeof id === "string" && id.includes("*");
}

/**
 * Reads an entry of `models` whose id ends in a star.
 *
 * @throws {z.ZodError} With the path of every invalid field.
 */
export function readModelPattern(value: unknown, context?: ReadContext): ModelPattern {
  const { id, serves, refresh, pricing, ...others } = modelPatternSchema.parse(value, context);
  const isFree = pricing === "free";
  const isPriced = typeof pricing === "object" && pricing !== null &&
    WRITTEN_PRICE_NAMES.some((word) => word in pricing);
  if (!isFree && !isPriced && pricing !== undefined) {
    throw new z.ZodError([{ code: "custom", path: ["pricing"], message: PRICING_EXPECTATION, input: pricing }]);
  }
  const given = Object.entries({ ...others, ...(isPriced ? { pricing } : {}) });
  const fields = Object.fromEntries(given.filter(([, field]) => field !== undefined));
  const provider = serves?.[0]?.provider ?? providerPartOf(id);
  modelWith({ provider, fields }, context); // validates the fields
  return {
    id,
    provider,
    before: id.slice(id.indexOf("/") + 1, -1),
    servesUnpriced: isFree || isPriced,
    fields,
    refreshMs: refresh,
  };
}

/**
 * A model with the fields of a pattern.
 *
 * @throws {z.ZodError} With the path of every invalid field.
 */
export function modelWith(
  { provider, fields }: Pick<ModelPattern, "provider" | "fields">,
  context?: ReadContext,
): Model {
  return readModel({ ...fields, id: "any/model", serves: [{ provider }] }, context);
}
