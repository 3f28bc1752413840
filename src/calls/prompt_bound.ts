import { Buffer } from "node:buffer";
import type { Tariff } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import type { RequestGrammar } from "../conversation/request_grammar.ts";
import { vendorToolsIn } from "../conversation/vendor_tools.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { highestRate, type Rate } from "../lib/money.ts";
import { type CarriedContext, carriedContextOf } from "./carried_context.ts";

/** A request whose prompt is to be paid for. */
export interface PromptRequest {
  readonly body: JsonObject;
  readonly grammar: RequestGrammar;
  /** The body as it came. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly model: Model;
  /** Whether the size of the cached content that the body may name is known, so that it counts apart. */
  readonly isCacheKnown: boolean;
  /** Whether a vendor of the model takes any file where a picture's address stands. */
  readonly takesAnyFile: boolean;
}

/** How large and how dear a prompt can be. Source: docs/money.md#reservations. */
export interface PromptBound {
  readonly tokens: number;
  /** The highest price of one of them. */
  readonly rate: Rate;
  /** Pictures in it. */
  readonly pictures: number;
  /** Hosted tools: those that the vendor runs itself. */
  readonly hostedTools: number;
  /** False when the whole context counts because the request names context that it does not carry. */
  readonly isCarried: boolean;
}

/** Text has at least this many bytes a token. */
const MIN_BYTES_PER_TOKEN = 2;

/** A model's context where the catalog does not name it. */
export const DEFAULT_CONTEXT_TOKENS = 1_000_000;

/** No vendor counts a picture for more; most count a tenth of it. */
const MAX_PICTURE_TOKENS = 16_000;

/** What vendors add to a prompt with tools, apart from the tools' definitions. */
const TOOLS_TOKENS = 1_000;

/** Bounds the prompt of a request: by its bytes and pictures, or by the whole context where these do not tell. */
export function promptBoundOf(request: PromptRequest): PromptBound {
  const { body, model, bytes, takesAnyFile } = request;
  const contextTokens = model.contextLength || DEFAULT_CONTEXT_TOKENS;
  const found = contextOf(request, contextTokens);
  const { pictures, pictureCharacters, picturesByAddress, hostedTools } = found;
  const isCarried = found.isCarried && !(takesAnyFile && picturesByAddress > 0);
  const rate = rateOf(model.tariff, { ...found, isCarried });
  if (!isCarried) return { tokens: contextTokens, rate, pictures, hostedTools, isCarried };
  const text = Math.ceil(Math.max(0, bytes.length - pictureCharacters) / MIN_BYTES_PER_TOKEN);
  const tools = Array.isArray(body.tools) && body.tools.length > 0 ? TOOLS_TOKENS : 0;
  const tokens = Math.min(contextTokens, text + pictures * MAX_PICTURE_TOKENS + tools);
  return { tokens, rate, pictures, hostedTools, isCarried };
}

/** A body that fills the context by its text alone need not be looked through, however large it is. */
function contextOf(request: PromptRequest, contextTokens: number): CarriedContext {
  const { body, bytes, grammar, isCacheKnown } = request;
  const fillsContext = bytes.length / MIN_BYTES_PER_TOKEN >= contextTokens && !mayHoldPictures(bytes);
  return fillsContext ? filledContext(vendorToolsIn(grammar, body)) : carriedContextOf(grammar, body, isCacheKnown);
}

function mayHoldPictures(bytes: Uint8Array<ArrayBuffer>): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("image");
}

/** Not looked through, so whatever costs most may be in it. */
function filledContext(hostedTools: number): CarriedContext {
  return {
    isCarried: hostedTools === 0,
    pictures: 0,
    picturesByAddress: 0,
    pictureCharacters: 0,
    hostedTools,
    isKeptForAnHour: true,
  };
}

/** Vendors also write prompts to caches that nobody asked for. */
function rateOf(tariff: Tariff, { isCarried, pictures, isKeptForAnHour }: CarriedContext): Rate {
  const rates = [tariff.prompt, tariff.input_cache_read, tariff.input_cache_write_5m];
  if (!isCarried || isKeptForAnHour) rates.push(tariff.input_cache_write_1h);
  if (!isCarried || pictures > 0) rates.push(tariff.image_input, tariff.image_input_cache_read);
  if (!isCarried) rates.push(tariff.audio, tariff.audio_cache_read);
  return highestRate(rates);
}
