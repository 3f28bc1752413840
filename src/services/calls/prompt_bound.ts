import type { Tariff } from "../../money/billing/prices/tariff.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import type { RequestGrammar } from "../../conversation/contract/request_grammar.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { higherRate, type Rate } from "../../platform/lib/basics/money.ts";
import { type CacheLifetime, type CarriedContext, carriedContextOf } from "./carried_context.ts";

/** A request with a chargeable prompt. */
export interface PromptRequest {
  readonly body: JsonObject;
  readonly grammar: RequestGrammar;
  /** The body as received. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly model: Model;
  /** Whether the size of the named cached content is known, so that it is counted separately. */
  readonly isCacheKnown: boolean;
  /** Whether a vendor of the model accepts any file as an image address. */
  readonly takesAnyFile: boolean;
}

/** The maximum size of a prompt. Source: docs/money.md#reservations. */
export interface PromptBound {
  readonly tokens: number;
  /** The number of images. */
  readonly pictures: number;
  /** The number of tools that the vendor runs. */
  readonly hostedTools: number;
  /** False if the whole context counts because the request refers to context that it does not contain. */
  readonly isSizeKnown: boolean;
  /** The lifetimes of a vendor's cache for which parts are marked, besides the shortest. */
  readonly cacheLifetimes: ReadonlySet<CacheLifetime>;
}

/** Text has at least this many bytes per token. */
const MIN_BYTES_PER_TOKEN = 2;

/** The context of a model whose catalog entry has none. */
export const DEFAULT_CONTEXT_TOKENS = 1_000_000;

/** No vendor counts more for an image; most count a tenth. */
const MAX_IMAGE_TOKENS = 16_000;

/** What vendors add to a prompt with tools, besides the tool definitions. */
const TOOLS_TOKENS = 1_000;

/** The upper bound of a request's prompt: by its bytes and images, or the whole context if these do not bound it. */
export function promptBoundOf(request: PromptRequest): PromptBound {
  const { body, model, bytes, takesAnyFile } = request;
  const contextTokens = model.contextLength || DEFAULT_CONTEXT_TOKENS;
  const found = carriedContextOf(request.grammar, body, request.isCacheKnown);
  const { pictures, pictureCharacters, picturesByAddress, hostedTools, cacheLifetimes } = found;
  const isSizeKnown = found.isSizeKnown && !(takesAnyFile && picturesByAddress > 0);
  const about = { pictures, hostedTools, isSizeKnown, cacheLifetimes };
  if (!isSizeKnown) return { tokens: contextTokens, ...about };
  const text = Math.ceil(Math.max(0, bytes.length - pictureCharacters) / MIN_BYTES_PER_TOKEN);
  const tools = Array.isArray(body.tools) && body.tools.length > 0 ? TOOLS_TOKENS : 0;
  const tokens = Math.min(contextTokens, text + pictures * MAX_IMAGE_TOKENS + tools);
  return { tokens, ...about };
}

/** The highest price of one token of a prompt. Vendors also write prompts to caches without a request for it. */
export function promptRateOf(
  tariff: Tariff,
  { isSizeKnown, pictures, cacheLifetimes }: Pick<CarriedContext, "isSizeKnown" | "pictures" | "cacheLifetimes">,
): Rate {
  let rate = higherRate(higherRate(tariff.prompt, tariff.input_cache_read), tariff.input_cache_write_5m);
  rate = higherRate(rate, tariff.input_cache_write_30m);
  for (const lifetime of ["1h", "12h", "24h"] as const) {
    if (!isSizeKnown || cacheLifetimes.has(lifetime)) rate = higherRate(rate, tariff[`input_cache_write_${lifetime}`]);
  }
  if (!isSizeKnown || pictures > 0) {
    rate = higherRate(higherRate(rate, tariff.image_input), tariff.image_input_cache_read);
  }
  if (!isSizeKnown) rate = higherRate(higherRate(rate, tariff.audio), tariff.audio_cache_read);
  return rate;
}
