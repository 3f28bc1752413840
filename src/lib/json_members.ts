const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Whether an object of a JSON text, at any depth, has one name twice. `JSON.parse` keeps the last of such members, and
 * another reader may keep the first, so that what was checked would differ from what is carried out.
 *
 * @param bytes The text, UTF-8.
 * @param value What `JSON.parse` gave for it.
 */
export function hasRepeatedMember(bytes: Uint8Array, value: unknown): boolean {
  return membersIn(bytes) !== keysIn(value);
}

/** The members of all objects of a text: one colon outside of strings each. */
function membersIn(bytes: Uint8Array): number {
  let members = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === COLON) members++;
    else if (byte === QUOTE) at = stringEnd(bytes, at);
  }
  return members;
}

/** The offset of the quote that ends the string opened at `start`. Long strings are searched natively. */
function stringEnd(bytes: Uint8Array, start: number): number {
  const near = Math.min(start + 64, bytes.length);
  for (let at = start + 1; at < near; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at++;
  }
  // An escape may have stepped over the border.
  let from = near > start + 1 && isEscaped(bytes, near, start) ? near + 1 : near;
  for (;;) {
    const end = bytes.indexOf(QUOTE, from);
    if (end < 0) return bytes.length;
    if (!isEscaped(bytes, end, start)) return end;
    from = end + 1;
  }
}

/** Whether an odd number of backslashes stands before an offset of a string. */
function isEscaped(bytes: Uint8Array, at: number, start: number): boolean {
  let before = at - 1;
  while (before > start && bytes[before] === BACKSLASH) before--;
  return (at - 1 - before) % 2 === 1;
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === "object" && element !== null) keys += keysIn(element);
    return keys;
  }
  for (const key of Object.keys(value)) {
    const inner = (value as { readonly [key: string]: unknown })[key];
    keys += 1 + (typeof inner === "object" && inner !== null ? keysIn(inner) : 0);
  }
  return keys;
}
