import { Buffer } from "node:buffer";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { isObject, parsedOrNull, textOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { EventMessage } from "./event_messages.ts";
import { exceptionIn } from "./exception.ts";

/** The types of Anthropic's errors by the vendor's exceptions. Source: Messages API reference, "Errors". */
const ERROR_TYPES: Readonly<Record<string, string>> = {
  throttlingException: "rate_limit_error",
  validationException: "invalid_request_error",
  accessDeniedException: "permission_error",
  modelTimeoutException: "timeout_error",
  serviceUnavailableException: "overloaded_error",
  modelNotReadyException: "overloaded_error",
};

/**
 * The event of Anthropic's stream that a message contains: base64 of its JSON text. An exception becomes an `error`
 * event. Source: Amazon Bedrock API reference, "InvokeModelWithResponseStream".
 *
 * @throws {TypeError} For a chunk without an event.
 */
export function messagesFrameOf(message: EventMessage): Frame | null {
  const exception = exceptionIn(message);
  if (exception !== null) {
    const type = ownValue(ERROR_TYPES, exception.name) ?? "api_error";
    return { event: "error", data: JSON.stringify({ type: "error", error: { type, message: exception.message } }) };
  }
  if (message.headers.get(":event-type") !== "chunk") return null;
  const chunk = parsedOrNull(decoder.decode(message.payload));
  const bytes = isObject(chunk) ? textOrNull(chunk.bytes) : null;
  if (bytes === null) throw new TypeError("Cannot read a chunk of the stream: expected an object with bytes");
  const data = Buffer.from(bytes, "base64").toString();
  return { event: eventNameOf(data), data };
}

const decoder = new TextDecoder();

/** Almost all events begin with their type. */
const TYPE = /^\{"type":"([a-z_]{1,64})"/;

function eventNameOf(data: string): string | null {
  const first = TYPE.exec(data)?.[1];
  if (first !== undefined) return first;
  const event = parsedOrNull(data);
  const type = isObject(event) ? textOrNull(event.type) : null;
  return type !== null && /^[a-z_]{1,64}$/.test(type) ? type : null;
}
