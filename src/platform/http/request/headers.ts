/**
 * Header fields that are forwarded between a caller and a vendor. Both lists are closed: any other field is dropped.
 * Neither side sees the other's credentials and cookies, the operator's organisation, project or quota at the vendor
 * (`openai-organization`, `anthropic-organization-id`), intermediate hosts (`cf-ray`, `via`), or hop-by-hop fields (RFC
 * 9110, 7.6.1). No caller can choose the account that a vendor bills (`x-goog-user-project`).
 */

/** Looks up a field by its lower-case name; null if missing. */
export type FieldSource = (name: string) => string | null;

/** Reads a field by its lower-case name; null if missing. `Headers` is one. */
export type HeaderReader = Pick<Headers, "get">;

/** Header fields that were read from the platform at once, since reading them one by one costs more for each. */
export class HeaderFields implements HeaderReader {
  readonly #values = new Map<string, string>();

  constructor(headers: Headers) {
    headers.forEach((value, name) => this.#values.set(name, value));
  }

  /** Returns the value of a field by its lower-case name; null if missing. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }
}

/**
 * The header field of a response whose parts are sent as they arise. Without it, nginx and its ingresses collect a
 * response before they pass it on. Source: nginx, `proxy_buffering`.
 */
export const UNBUFFERED: { readonly "x-accel-buffering": "no" } = { "x-accel-buffering": "no" };

/** Retry times, which clients of every format understand. */
const WAITS: readonly string[] = ["retry-after", "retry-after-ms"];

/**
 * The header fields of a caller's request to forward to a vendor with the same format, by lower-case name. Invalid
 * values are dropped.
 *
 * @param names The format's header fields in lower case.
 */
export function requestHeadersOf(fieldOf: FieldSource, names: readonly string[]): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = fieldOf(name);
    if (value !== null && isFieldValue(value)) passed[name] = value;
  }
  return passed;
}

/**
 * Adds the header fields of a vendor's response to forward to the caller, by lower-case name: retry times, and within
 * one format also the vendor's version and processing time. The vendor's rate limits are dropped, because they show
 * what other callers use. The content type is not forwarded, since the gateway sets the type it has
 * verified. Neither are request ids and `RateLimit` fields, which would appear to be the gateway's own.
 *
 * @param fields Receives them by name.
 * @param told The fields that vendors of the shared format send, in lower case; empty if the formats differ.
 */
export function addReportedHeaders(
  fields: Record<string, string>,
  fieldOf: FieldSource,
  told: readonly string[],
): void {
  for (const name of WAITS) addReported(fields, fieldOf, name);
  for (const name of told) addReported(fields, fieldOf, name);
}

function addReported(fields: Record<string, string>, fieldOf: FieldSource, name: string): void {
  const value = fieldOf(name);
  if (value !== null && isFigure(value)) fields[name] = value;
}

/** Whether the value is visible ASCII, spaces and tabs (RFC 9110, 5.5, without `obs-text`), at least one character. */
function isFieldValue(value: string): boolean {
  return value.length <= 8192 && /^[\t\x20-\x7e]+$/.test(value);
}

/** Whether the value is a number, a duration or a timestamp: the only values that these response fields have. */
function isFigure(value: string): boolean {
  return /^[\w:.,+ -]{1,64}$/.test(value);
}

/**
 * Whether an `If-None-Match` names an entity tag, so that the caller's copy is current. Weak tags are compared as
 * strong ones. It looks at each letter once: anyone may send hundreds of kilobytes. Source: RFC 9110, 13.1.2.
 */
export function hasTag(field: string | null, etag: string): boolean {
  if (field === null) return false;
  return field.trim() === "*" || field.split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}
