/**
 * Header fields that travel between a caller and a vendor of text. Both lists are closed: whatever is not named ends at
 * the gateway. So nobody sees the other's credentials and cookies, the operator's organisation, project or quota plan
 * at the vendor (`openai-organization`, `anthropic-organization-id`), the hosts on the way (`cf-ray`, `via`), or a
 * field that belongs to one hop (RFC 9110, 7.6.1); and no caller chooses whose account is billed
 * (`x-goog-user-project`).
 */

/** Looks up a field by its name in lower case; null when it is missing. */
export type FieldSource = (name: string) => string | null;

/** When to come again, understood by clients of every form. */
const WAITS: readonly string[] = ["retry-after", "retry-after-ms"];

/**
 * The fields of a caller's request that go on to a vendor of the caller's form, by name in lower case. A value that
 * could not stand in a header again is left out.
 *
 * @param names Features of the format, in lower case.
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
 * The fields of a vendor's answer that go on to the caller, names in lower case: when to come again; and where both
 * speak one form also the limits and what time the vendor took. Limits in the words of another form are left out,
 * because no client of the caller's form reads them. The type is not among them, as the gateway says what it has
 * checked the body to be, and neither is a request id or a `RateLimit` field, which would be taken for the gateway's
 * own.
 *
 * @param told What vendors of the format that both speak tell, in lower case; none when they speak different ones.
 */
export function responseHeadersOf(fieldOf: FieldSource, told: readonly string[]): [string, string][] {
  const passed: [string, string][] = [];
  for (const name of [...WAITS, ...told]) {
    const value = fieldOf(name);
    if (value !== null && isFigure(value)) passed.push([name, value]);
  }
  return passed;
}

/** True for visible ASCII, blanks and tabs (RFC 9110, 5.5, without `obs-text`), at least one. */
function isFieldValue(value: string): boolean {
  return value.length <= 8192 && /^[\t\x20-\x7e]+$/.test(value);
}

/** True for a number, a span or an instant, all that the fields of an answer have to say. */
function isFigure(value: string): boolean {
  return /^[\w:.,+ -]{1,64}$/.test(value);
}
