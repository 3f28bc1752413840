/**
 * What a sample shows is compared with what was printed. Values that differ between two runs match by their kind: ids,
 * times, secrets, durations. `…` in a sample stands for any text. White space counts only as a separator of words.
 */

/** Kinds of values that differ between runs. The first whose pattern is found at a place decides. */
const KINDS: readonly { readonly found: RegExp; readonly matched: string; readonly isName: boolean }[] = [
  {
    found: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/,
    matched: "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    isName: true,
  },
  { found: /\bcachedContents\/0[0-9a-f]+…?/, matched: "cachedContents/0[0-9a-f]{27}", isName: true },
  { found: /\b(?:batch_|file-)01a2[0-9a-f]{24}/, matched: "(?:batch_|file-)[0-9a-f]{28}", isName: true },
  // A UUID that the sample cuts: 01a2032d-… or 019d…
  { found: /\b0[0-9a-f]{3}(?:[0-9a-f]{4}-)?…/, matched: "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", isName: true },
  { found: /\b0[0-9a-f]{27}\b/, matched: "0[0-9a-f]{27}", isName: true },
  {
    found: /\b(?:req|msg|resp|key|adminkey|chatcmpl|cgt)[_-][0-9A-Za-z]+…?/,
    matched: "(?:req|msg|resp|key|adminkey|chatcmpl|cgt)[_-][0-9A-Za-z-]+",
    isName: true,
  },
  { found: /\b127\.0\.0\.1:\d{2,5}\b/, matched: "127\\.0\\.0\\.1:\\d+", isName: false },
  { found: /\bwhsec_[\w/+=]+…?/, matched: "whsec_[\\w/+=]+", isName: false },
  { found: /\bsk-(?:sy|admin)-[\w-]+…?/, matched: "sk-(?:sy|admin)-[\\w-]+", isName: false },
  { found: /\bv1,[\w/+=]{20,}/, matched: "v1,[\\w/+=]+", isName: false },
  { found: /\b20\d\d-\d\d-\d\dT[\d:.]+Z/, matched: "20\\d\\d-\\d\\d-\\d\\dT[\\d:.]+Z", isName: false },
  { found: /\b1[78]\d{8}(?:\.\d+)?\b/, matched: "1[78]\\d{8}(?:\\.\\d+)?", isName: false },
  { found: /\bsignature: [\w-]{43}/, matched: "signature: [\\w-]{43}", isName: false },
  { found: /\bid: [\w-]{16}\b/, matched: "id: [\\w-]{16}", isName: false },
  { found: /\bretry ?after ?\d+ ?s\b/, matched: "retry ?after ?\\d+ ?s", isName: false },
  { found: /\b\d+ ?ms\b/, matched: "\\d+ ?ms", isName: false },
  { found: /"[a-z_]*_ms": ?\d+/, matched: '"[a-z_]*_ms": ?\\d+', isName: false },
  { found: /^[0-9a-f]{8}$/, matched: "[0-9a-f]{8}", isName: false },
  { found: /\b\d+\.\d GB\b/, matched: "\\d+\\.\\d GB", isName: false },
  { found: /\bsignature=\w+…/, matched: "signature=[\\w-]+", isName: false },
  { found: /#link=\w+…/, matched: "#link=\\w+", isName: false },
  { found: /…/, matched: "[^]*?", isName: false },
];

const ANY_KIND = new RegExp(KINDS.map(({ found }) => `(${found.source})`).join("|"), "g");

/** The pattern of a sample, with a group for each id, and the ids as the sample has them. */
function patternOf(sample: string): { readonly pattern: RegExp; readonly ids: readonly string[] } {
  let source = "";
  let end = 0;
  const ids: string[] = [];
  for (const match of sample.matchAll(ANY_KIND)) {
    const kind = KINDS.find((_, index) => match[index + 1] !== undefined);
    if (kind === undefined) throw new Error(`No kind of value matches ${match[0]}`);
    source += RegExp.escape(sample.slice(end, match.index)) + (kind.isName ? `(${kind.matched})` : kind.matched);
    if (kind.isName) ids.push(match[0]);
    end = match.index + match[0].length;
  }
  return { pattern: new RegExp(`^${source}${RegExp.escape(sample.slice(end))}$`), ids };
}

/** A comparison of a sample with the real output. */
export interface Comparison {
  /** Null if they are the same. */
  readonly problem: string | null;
  /** The real value of each id of the sample. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Compares a sample with the real output. */
export function compareTexts(sample: string, output: string): Comparison {
  const [shown, real] = [parsed(sample), parsed(output)];
  if (shown === undefined || real === undefined) return compareCharacters(sample, output);
  const ids = new Map<string, string>();
  const problems = jsonProblems(shown, real, "", ids);
  return { problem: problems.length === 0 ? null : `${problems.join("\n")}\nin ${output}`, ids };
}

function parsed(text: string): object | undefined {
  if (!isJson(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a part of it is left out, or it is cut
  }
}

function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/** Numbers that differ between two runs, by the name of their field. */
const VARYING_NUMBER = /_ms$|^retry_after$/;

/** Fields that an answer has only if the gateway saw an intermediate state. */
const OPTIONAL: ReadonlySet<string> = new Set(["started_at"]);

/** Numbers that are Unix seconds of these decades. */
function isTime(value: unknown): boolean {
  return typeof value === "number" && value >= 1_700_000_000 && value < 2_000_000_000;
}

/** Compares values. A field `…` in the sample stands for further fields. */
function jsonProblems(shown: unknown, real: unknown, path: string, ids: Map<string, string>): string[] {
  if (typeof shown === "string" && typeof real === "string") {
    const comparison = compareCharacters(shown, real, false);
    for (const [id, own] of comparison.ids) ids.set(id, own);
    return comparison.problem === null ? [] : [`${path}: ${comparison.problem}`];
  }
  const isVarying = typeof real === "number" && VARYING_NUMBER.test(path);
  if (shown === real || (isTime(shown) && isTime(real)) || (isVarying && typeof shown === "number")) return [];
  if (typeof shown !== "object" || typeof real !== "object" || shown === null || real === null) {
    return [`${path}: the sample has ${JSON.stringify(shown)}, the output ${JSON.stringify(real)}`];
  }
  const [fields, others] = [new Map(Object.entries(shown)), new Map(Object.entries(real))];
  const names = new Set([...fields.keys(), ...fields.has("…") ? [] : others.keys()]);
  const compared = [...names].filter((name) => name !== "…" && (others.has(name) || !OPTIONAL.has(name)));
  return compared.flatMap((name) =>
    fields.has(name) && others.has(name)
      ? jsonProblems(fields.get(name), others.get(name), `${path}.${name}`, ids)
      : [`${path}.${name}: only the ${fields.has(name) ? "sample" : "output"} has it`]
  );
}

/** Compares texts. In JSON that a page wraps anywhere, white space does not count. */
function compareCharacters(sample: string, output: string, isWrapped = isJson(sample)): Comparison {
  const [shown, real] = [squeezed(sample, isWrapped), squeezed(output, isWrapped)];
  const { pattern, ids } = patternOf(shown);
  const match = pattern.exec(real);
  return match === null
    ? { problem: difference(shown, real), ids: new Map() }
    : { problem: null, ids: new Map(ids.map((id, index) => [id, match[index + 1] ?? ""])) };
}

function squeezed(text: string, isWrapped: boolean): string {
  return isWrapped ? text.replaceAll(/\s+/g, "") : text.trim().replaceAll(/[ \t]+/g, " ").replaceAll(/ ?\n ?/g, "\n");
}

/** The rest of a sample after its longest start that the output matches. */
function difference(shown: string, real: string): string {
  let length = 0;
  for (let step = shown.length; step >= 1; step = Math.floor(step / 2)) {
    while (length + step <= shown.length && isStart(shown.slice(0, length + step), real)) length += step;
  }
  return `the sample continues with\n  ${shown.slice(length, length + 200)}\nthe output is\n  ${real}`;
}

function isStart(start: string, output: string): boolean {
  return new RegExp(patternOf(start).pattern.source.slice(0, -1)).test(output);
}
