import { GatewayError, invalidField } from "../../lib/basics/gateway_error.ts";
import { JoinedBytes } from "../../lib/bytes/joined_bytes.ts";

/** The maximum size of one text field of a form. */
const MAX_FORM_TEXT_BYTES = 262_144;

/** Collects the text of one form field. */
export class FormText {
  readonly #bytes = new JoinedBytes();

  /** @param field The name, for errors. */
  constructor(readonly field: string) {}

  /**
   * Appends a copy of a chunk. Throws {@linkcode GatewayError} `request_too_large` above
   * {@linkcode MAX_FORM_TEXT_BYTES}.
   */
  add(bytes: Uint8Array<ArrayBuffer>): void {
    const length = this.#bytes.length + bytes.length;
    if (length > MAX_FORM_TEXT_BYTES) throw fieldTooLarge(this.field, MAX_FORM_TEXT_BYTES);
    this.#bytes.add(bytes);
  }

  /**
   * Adds the text to the fields of the form. An empty text counts as missing.
   *
   * @throws {GatewayError} `invalid_request` if it is not UTF-8, and for a second value of one field.
   */
  enter(fields: Map<string, string>): void {
    const text = this.#decoded();
    const known = fields.get(this.field);
    // Another parser could take the other value, so the request would be routed and billed by one and served by the
    // other.
    if (known !== undefined && known !== text) {
      throw closingError(invalidField(this.field, "expected it once, got two values"));
    }
    if (text !== "") fields.set(this.field, text);
  }

  #decoded(): string {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(this.#bytes.joined());
    } catch (cause) {
      throw closingError(invalidField(this.field, "expected text in UTF-8", { cause }));
    }
  }
}

/** Rejects a body that is still arriving: its connection must not be reused. */
export function closingError({ code, message, details }: GatewayError): GatewayError {
  return new GatewayError(code, message, { ...details, closeConnection: true });
}

/** The error for a field above its maximum size. */
export function fieldTooLarge(field: string, capBytes: number): GatewayError {
  return closingError(
    new GatewayError("request_too_large", `Cannot read "${field}": expected at most ${capBytes} bytes`, { field }),
  );
}
