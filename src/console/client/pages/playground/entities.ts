/** The named characters that models write. Others stay as they are. */
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  hellip: "…",
  ndash: "–",
  mdash: "—",
};

/** A text of Markdown with the characters that it names. Source: CommonMark 0.31, 6.2. */
export function textOfEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? parseInt(hexadecimal, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}
