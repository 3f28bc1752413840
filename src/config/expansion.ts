/** The process's environment, or a test's: the value of a name, undefined when it is not set. */
export type Environment = (name: string) => string | undefined;

/**
 * `${NAME}` and `${NAME:-default}` in string values, `$$` for a plain `$`.
 *
 * The expressions are found in the file's text before YAML reads it, because braces mean something else in its flow
 * style (`{ api_key: ${KEY} }`), and stand as marks until the values are there. What the environment holds is put in
 * last, so it is never read as YAML and never expanded again.
 */
type Expression = { readonly name: string; readonly fallback: string | null } | "dollar";

/** A file's text with marks in it, and what each mark stands for. */
export interface MarkedText {
  readonly text: string;
  readonly expressions: readonly Expression[];
}

/** A value with its marks replaced. */
export interface Expanded {
  readonly text: string;
  /** True if anything came from the environment, which makes the value private. */
  readonly isPrivate: boolean;
  /** Names that are not set and have no default. */
  readonly missing: readonly string[];
}

/** Private-use characters: they are part of a plain word in YAML and of nobody's language. */
const [OPEN, CLOSE] = ["\ue000", "\ue001"];
const MARK = /\ue000(\d+)\ue001/g;
const EXPRESSION = /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\r\n]*))?\}/g;

/** Whether the text already holds a character that marks are made of. */
export function holdsMark(text: string): boolean {
  return text.includes(OPEN) || text.includes(CLOSE);
}

/** Puts a mark in place of every expression. */
export function markExpressions(text: string): MarkedText {
  const expressions: Expression[] = [];
  const marked = text.replace(EXPRESSION, (whole, name: string, fallback: string | undefined) => {
    expressions.push(whole === "$$" ? "dollar" : { name, fallback: fallback ?? null });
    return `${OPEN}${expressions.length - 1}${CLOSE}`;
  });
  return { text: marked, expressions };
}

/** Puts values in place of a value's marks. As in a shell, a default also stands in for a name set to nothing. */
export function expand(text: string, expressions: readonly Expression[], environment: Environment): Expanded {
  const missing: string[] = [];
  let isPrivate = false;
  const expanded = text.replace(MARK, (_, index: string) => {
    const expression = expressions[Number(index)];
    if (expression === "dollar") return "$";
    isPrivate = true;
    const { name, fallback } = expression;
    const value = environment(name);
    if (value === undefined && fallback === null) missing.push(name);
    return fallback === null ? value ?? "" : value || fallback;
  });
  return { text: expanded, isPrivate, missing };
}

/** Whether a `${` was left that is no expression, such as `${1st}` or one without an end. */
export function holdsBrokenExpression(text: string): boolean {
  return text.includes("${");
}
