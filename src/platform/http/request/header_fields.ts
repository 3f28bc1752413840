import * as z from "zod";

/**
 * Header fields that the gateway or the connection sets (RFC 9110, 7.6.1). An operator's value would break the message.
 */
const OWN_HEADERS = new Set([
  "connection",
  "content-length",
  "content-type",
  "content-encoding",
  "accept-encoding",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HEADER_EXPECTATION = "a header name that is not set by the gateway itself";
const VALUE_EXPECTATION = "a header value of visible ASCII characters";

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, HEADER_EXPECTATION)
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), HEADER_EXPECTATION);
const headerValue = z.string(VALUE_EXPECTATION).regex(/^[\x20-\x7e]{0,4096}$/, VALUE_EXPECTATION);

/** The schema of header fields with their values, by any name that the gateway does not set itself. */
export function headerFields(): z.ZodType<Record<string, string>> {
  return z.record(headerName, headerValue);
}
