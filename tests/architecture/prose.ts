/** A wording that pages and messages do not use, and what they use in its place. `CONTRIBUTING.md` has the table. */
export interface ReplacedPhrase {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
}

/** The wordings that pages and messages do not use. */
export const REPLACED_PHRASES: readonly ReplacedPhrase[] = [
  {
    name: "a status as predicate",
    pattern:
      /(?<!status )\b(?:is|are|was|were) (?:then |always |also )?(?:20|30|4\d|5\d)\d(?=[.,;:]?(?: |$))(?! (?:tokens|requests|or above))/gi,
    instead: "returns 404, fails with 402",
  },
  { name: "at once", pattern: /\bat once\b/gi, instead: "immediately, or simultaneously" },
  { name: "alone", pattern: /\balone\b/gi, instead: "only" },
  { name: "of its own", pattern: /\bof (?:its|their|your) own\b/gi, instead: "its own, separate" },
  { name: "beside", pattern: /\bbeside\b/gi, instead: "next to, with" },
  { name: "in force", pattern: /\bin force\b/gi, instead: "active" },
  { name: "picture", pattern: /\bpictures?\b/gi, instead: "image" },
  {
    name: "British spelling",
    pattern: /\b(?:colours?|behaviours?|licences?|honours?|recognis\w+|summaris\w+)\b/gi,
    instead: "American spelling",
  },
];

/** The prose of a page: without blocks of code, code in a line, addresses of links and line breaks. */
export function proseOf(page: string): string {
  return page.replaceAll(/^ *```[^]*?^ *```$/gm, "").replaceAll(/`[^`]*`/g, "`…`").replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/\s+/g, " ");
}

/** Each place of a text that has a replaced phrase, with some words around it. */
export function placesOf(text: string, { pattern }: ReplacedPhrase): string[] {
  return [...text.matchAll(pattern)].map(({ index, 0: found }) =>
    text.slice(Math.max(0, index - 30), index + found.length + 20)
  );
}
