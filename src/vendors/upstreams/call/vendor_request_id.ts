/** The header fields in which vendors send their id of a request, the most frequent first. */
const FIELDS: readonly string[] = [
  "x-request-id",
  "request-id",
  "x-goog-request-id",
  "apim-request-id",
  "x-amzn-requestid",
  "x-tt-logid",
];

/** Longer values and others are not ids. */
const ID = /^[\w.:/+=-]{1,128}$/;

/**
 * Returns the vendor's own id of a request, which its support asks for; null if the response has none.
 *
 * @param fieldOf Returns a header field of the response by its lower-case name.
 */
export function vendorRequestIdOf(fieldOf: (name: string) => string | null): string | null {
  for (const name of FIELDS) {
    const value = fieldOf(name);
    if (value !== null) return ID.test(value) ? value : null;
  }
  return null;
}
