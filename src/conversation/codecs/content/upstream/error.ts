import type { VendorError } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isObject, numberOrNull, parsedOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import { objectsIn } from "../shared/fields.ts";

const MAX_MESSAGE_CHARACTERS = 2000;

/**
 * Reads an error body, including the list form of streams without SSE, and plain text. The code is the reason in
 * `ErrorInfo` (`API_KEY_INVALID`), or else the status. A prompt that is too long gets `context_length_exceeded`,
 * because this format has no code for it.
 */
export function readError(body: unknown): VendorError {
  if (typeof body === "string") return readText(body);
  const error = errorIn(Array.isArray(body) ? body[0] : body);
  if (error === null) return { message: "", code: null, field: null, retryAfterSeconds: null };
  const message = textOrNull(error.message) ?? "";
  const nested = message.startsWith("{") ? errorIn(parsedOrNull(message)) : null;
  if (nested !== null && textOrNull(nested.message) !== null) return readError({ error: { ...error, ...nested } });
  const details = objectsIn(error.details);
  const violation = objectsIn(details.find((detail) => Array.isArray(detail.fieldViolations))?.fieldViolations)[0];
  return {
    message,
    code: isPromptTooLong(message) ? "context_length_exceeded" : codeOf(error, details),
    field: textOrNull(violation?.field),
    retryAfterSeconds: retryAfterOf(details),
  };
}

function readText(text: string): VendorError {
  const json = parsedOrNull(text.trim());
  if (isObject(json) || Array.isArray(json)) return readError(json);
  const message = text.includes("<") ? "" : text.trim().slice(0, MAX_MESSAGE_CHARACTERS);
  return { message, code: null, field: null, retryAfterSeconds: null };
}

function errorIn(body: unknown): JsonObject | null {
  if (!isObject(body)) return null;
  if (isObject(body.error)) return body.error;
  return textOrNull(body.error) === null ? null : { message: body.error };
}

function isPromptTooLong(message: string): boolean {
  return /input token count.*exceeds the maximum number of tokens/i.test(message);
}

function codeOf(error: JsonObject, details: readonly JsonObject[]): string | null {
  for (const detail of details) {
    const reason = textOrNull(detail.reason);
    if (reason !== null) return reason;
  }
  return textOrNull(error.status) ?? (numberOrNull(error.code) === null ? textOrNull(error.code) : null);
}

/** The delay before a retry in seconds: `"34.4s"` as 35. */
function retryAfterOf(details: readonly JsonObject[]): number | null {
  for (const detail of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOrNull(detail.retryDelay) ?? "")?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return null;
}
