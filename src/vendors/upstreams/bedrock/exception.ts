import { isObject, parsedOrNull, textOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { EventMessage } from "./event_messages.ts";

/** A failure that the vendor reports in a stream. */
export interface StreamException {
  /** Such as `throttlingException`. */
  readonly name: string;
  /** Empty if it has none. */
  readonly message: string;
}

/**
 * The exception that a message is: one of the model of the API, or an error of the framing. Null for any other message.
 * Source: Smithy, "Amazon Event Stream specification", `:message-type`.
 */
export function exceptionIn({ headers, payload }: EventMessage): StreamException | null {
  switch (headers.get(":message-type")) {
    case "exception": {
      const body = parsedOrNull(new TextDecoder().decode(payload));
      const message = isObject(body) ? textOrNull(body.message) ?? textOrNull(body.Message) : null;
      return { name: nameOf(headers.get(":exception-type")), message: message ?? "" };
    }
    case "error":
      return { name: nameOf(headers.get(":error-code")), message: headers.get(":error-message") ?? "" };
    default:
      return null;
  }
}

function nameOf(name: string | undefined): string {
  return name !== undefined && /^[A-Za-z]{1,64}$/.test(name) ? name[0]?.toLowerCase() + name.slice(1) : "exception";
}
