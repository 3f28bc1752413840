import type { Model } from "../catalog/model.ts";
import type { Codec, JsonObject } from "../conversation/codec.ts";
import { isObject } from "../conversation/wire_value.ts";
import { invalidField } from "../lib/gateway_error.ts";

/** A limit of output tokens as a request sets it. */
export interface RequestedLimit {
  /** In the caller's spelling: `generationConfig.maxOutputTokens`. */
  readonly field: string;
  readonly tokens: number;
}

/** The two spellings of the content format's settings. */
const CONTENT_CONFIGS = ["generationConfig", "generation_config"] as const;

/** Where each format limits the output of one choice. */
const LIMIT_FIELDS: Readonly<Record<Codec["name"], readonly string[]>> = {
  chat: ["max_completion_tokens", "max_tokens"],
  responses: ["max_output_tokens"],
  messages: ["max_tokens"],
  content: CONTENT_CONFIGS.flatMap((config) => [`${config}.maxOutputTokens`, `${config}.max_output_tokens`]),
};

/** The largest limit that the request sets, as vendors differ in which of two they take; null when it sets none. */
export function requestedLimitOf(body: JsonObject, format: Codec["name"]): RequestedLimit | null {
  let largest: RequestedLimit | null = null;
  for (const field of LIMIT_FIELDS[format]) {
    const tokens = field.split(".").reduce<unknown>((inner, key) => isObject(inner) ? inner[key] : undefined, body);
    if (typeof tokens === "number" && (largest === null || tokens > largest.tokens)) largest = { field, tokens };
  }
  return largest;
}

/**
 * Refuses a limit above the model's own.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function refuseBeyondLimit(requested: RequestedLimit | null, model: Model): void {
  const most = model.topProvider.maxCompletionTokens;
  if (requested && most > 0 && requested.tokens > most) {
    throw invalidField(requested.field, `expected at most ${most} for "${model.id}", got ${requested.tokens}`);
  }
}

/**
 * Members of a request's top object that limit its output, for a body that passes through.
 *
 * @param compatible True for vendors that only resemble the format's author: those of the chat format take `max_tokens`.
 */
export function limitMembers(
  body: JsonObject,
  format: Codec["name"],
  tokens: number,
  compatible: boolean,
): Record<string, unknown> {
  switch (format) {
    case "chat":
      return compatible ? { max_tokens: tokens } : { max_completion_tokens: tokens };
    case "responses":
      return { max_output_tokens: tokens };
    case "messages":
      return { max_tokens: tokens };
    case "content": {
      const config = CONTENT_CONFIGS.find((each) => isObject(body[each])) ?? CONTENT_CONFIGS[0];
      const { max_output_tokens: _replaced, ...settings } = isObject(body[config]) ? body[config] : {} as JsonObject;
      return { [config]: { ...settings, maxOutputTokens: tokens } };
    }
  }
}
