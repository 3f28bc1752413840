import { Buffer } from "node:buffer";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";

/** Bytes of one text field of a form. */
const MAX_FORM_TEXT_BYTES = 262_144;

/** The text of one field of a form while it comes. */
export class FormText {
  readonly #pieces: Buffer[] = [];
  #length = 0;

  /** @param field For errors. */
  constructor(readonly field: string) {}

  /** Copies a piece. Throws {@linkcode GatewayError} `request_too_large` beyond {@linkcode MAX_FORM_TEXT_BYTES}. */
  add(bytes: Uint8Array<ArrayBuffer>): void {
    this.#length += bytes.length;
    if (this.#length > MAX_FORM_TEXT_BYTES) throw fieldTooLarge(this.field, MAX_FORM_TEXT_BYTES);
    this.#pieces.push(Buffer.from(bytes)); // a copy
  }

  /**
   * Enters the text into the fields of the form; an empty one counts as not sent.
   *
   * @throws {GatewayError} `invalid_request` unless it is UTF-8, and for a second value of one field.
   */
  enter(fields: Map<string, string>): void {
    const text = this.#decoded();
    const known = fields.get(this.field);
    // Another reader could take the other one: routed and billed as one, served as the other.
    if (known !== undefined && known !== text) {
      throw closing(invalidField(this.field, "expected it once, got two values"));
    }
    if (text !== "") fields.set(this.field, text);
  }

  #decoded(): string {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(this.#pieces));
    } catch (cause) {
      throw closing(invalidField(this.field, "expected text in UTF-8", { cause }));
    }
  }
}

/** The refusal of a body that still comes: its connection cannot be used again. */
export function closing({ code, message, details }: GatewayError): GatewayError {
  return new GatewayError(code, message, { ...details, closeConnection: true });
}

/** The refusal of a field that is longer than its cap. */
export function fieldTooLarge(field: string, capBytes: number): GatewayError {
  return closing(
    new GatewayError("request_too_large", `Cannot read "${field}": expected at most ${capBytes} bytes`, { field }),
  );
}
