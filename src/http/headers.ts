/** Fields that end at the next hop, whoever sends them (RFC 9110, 7.6.1); `Connection` can name more. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * What a vendor's answer tells the caller besides its body: the type, when to come again, the limits, the time taken.
 * Everything else stays here: cookies, lengths and codings that do not fit our body, and the fields that name the
 * operator's own organisation at the vendor.
 */
const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  "content-type",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "openai-processing-ms",
  "openai-version",
]);
const RESPONSE_PREFIXES: readonly string[] = ["x-ratelimit-", "anthropic-ratelimit-", "ratelimit"];

/**
 * What a caller's request tells the vendor besides its body: which version and which features of the protocol it
 * speaks. Never a credential, a cookie, or a choice of whose account is billed or what the answer leaves out
 * (`openai-organization`, `x-goog-user-project`, `x-goog-fieldmask`).
 */
const REQUEST_FIELDS: readonly string[] = ["anthropic-version", "anthropic-beta", "openai-beta"];

/** Fields of a message, whoever holds them: `Headers` is one such, an outbound response another. */
export interface FieldSource {
  get(name: string): string | null;
}

/** True for a field of a vendor's answer that the caller may see. @param name In lower case. */
export function isPassedOn(name: string): boolean {
  return RESPONSE_FIELDS.has(name) || RESPONSE_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * The fields of a vendor's answer that go on to the caller. A value that could not stand in a header again is left out.
 *
 * @param fields Name and value, the names in lower case.
 */
export function responseHeadersOf(fields: Iterable<readonly [string, string]>): [string, string][] {
  const passed: [string, string][] = [];
  for (const [name, value] of fields) if (isPassedOn(name) && isFieldValue(value)) passed.push([name, value]);
  return passed;
}

/** The fields of a caller's request that go on to a vendor of the same protocol, by name in lower case. */
export function requestHeadersOf(headers: FieldSource): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of REQUEST_FIELDS) {
    const value = headers.get(name);
    if (value !== null && value !== "" && isFieldValue(value)) passed[name] = value;
  }
  return passed;
}

/** True for text that can stand in a header field: visible ASCII, blanks and tabs (RFC 9110, 5.5, without `obs-text`). */
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value) && value.length <= 8192;
}
