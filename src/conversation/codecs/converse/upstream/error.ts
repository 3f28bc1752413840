import { ownValue } from "../../../../platform/lib/collections/own_value.ts";
import type { VendorError } from "../../../contract/upstream_format.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";

/**
 * HTTP statuses of the exceptions in a stream. Failures of a model, with status 424 and 408, count as the vendor's.
 * Source: Amazon Bedrock API reference, "ConverseStream", "Errors".
 */
const STATUS: Readonly<Record<string, number>> = {
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  throttlingException: 429,
  internalServerException: 500,
  modelErrorException: 500,
  modelStreamErrorException: 500,
  modelNotReadyException: 503,
  serviceUnavailableException: 503,
  modelTimeoutException: 504,
};

/** The HTTP status of an exception; null for unknown ones. */
export function statusOf(exception: string): number | null {
  return ownValue(STATUS, exception) ?? null;
}

/**
 * Reads an error body. The code is that of the header field with the exception, or in `__type`. A prompt that is too
 * long gets `context_length_exceeded`, because this format has no code for it.
 */
export function readError(body: unknown): VendorError {
  const message = isObject(body) ? textOrNull(body.message) ?? textOrNull(body.Message) ?? "" : "";
  const type = isObject(body) ? textOrNull(body.__type) : null;
  return {
    message,
    code: isPromptTooLong(message) ? "context_length_exceeded" : type?.replace(/^.*#/, "") ?? null,
    field: null,
    retryAfterSeconds: null,
  };
}

function isPromptTooLong(message: string): boolean {
  return /\binput is too long\b|\btoo many (?:input )?tokens\b|\bprompt is too long\b|maximum context length/i
    .test(message);
}
