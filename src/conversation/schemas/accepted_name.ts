/** The longest name of a property that Anthropic and Bedrock accept. */
export const MAX_NAME_CHARACTERS = 64;

/**
 * Whether Anthropic and Bedrock accept a name of a property in a tool's schema: `^[a-zA-Z0-9_.-]{1,64}$`. One other
 * name is a 400 for the whole request: "Property keys should match pattern". Source: the vendors' error messages.
 */
export function isAcceptedName(name: string): boolean {
  const { length } = name;
  if (length === 0 || length > MAX_NAME_CHARACTERS) return false;
  for (let at = 0; at < length; at++) if (!isAcceptedCode(name.charCodeAt(at))) return false;
  return true;
}

const [LOWER_A, LOWER_Z, UPPER_A, UPPER_Z, ZERO, NINE] = [0x61, 0x7a, 0x41, 0x5a, 0x30, 0x39];
const [UNDERSCORE, DOT, HYPHEN] = [0x5f, 0x2e, 0x2d];

function isAcceptedCode(code: number): boolean {
  return (code >= LOWER_A && code <= LOWER_Z) || code === UNDERSCORE || (code >= UPPER_A && code <= UPPER_Z) ||
    (code >= ZERO && code <= NINE) || code === DOT || code === HYPHEN;
}
