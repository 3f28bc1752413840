import { invalidField } from "../../lib/basics/gateway_error.ts";

/**
 * Serialises header fields to request lines, each ended by CR LF. Every outgoing request uses it.
 *
 * @throws {GatewayError} `invalid_request` with the field's name. A value with a line end would start another field,
 * and non-ASCII characters would arrive changed (RFC 9110, 5.5).
 */
export function headerLinesOf(fields: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(value)) {
      throw invalidField(name, "expected a header field of visible ASCII characters");
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
