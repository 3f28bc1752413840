/** Strings, and the signs that open, close and divide; what is between them has neither. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;
/** A map of vendors, with a map of models each, is three deep. */
const MAX_DEPTH = 4;
const MAX_NAMES = 5;

/**
 * The names that occur twice in one object of a JSON text, of which `JSON.parse` would take the last. Objects that are
 * deep inside others are not examined.
 *
 * @param text Valid JSON.
 * @returns The first five names.
 */
export function repeatedNames(text: string): readonly string[] {
  const repeated = new Set<string>();
  // A set for each open object, null for a list.
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(open.length < MAX_DEPTH ? new Set() : null);
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") note(open.at(-1) ?? null, last);
    last = token;
    if (repeated.size === MAX_NAMES) break;
  }
  return [...repeated];

  function note(names: Set<string> | null, name: string): void {
    if (names === null) return;
    if (names.has(name)) repeated.add(JSON.parse(name));
    names.add(name);
  }
}
