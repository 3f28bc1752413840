import { elementAt } from "../../platform/lib/collections/element_at.ts";

/** Reads an environment variable; undefined if it is not set. */
export type Environment = (name: string) => string | undefined;

/**
 * `${NAME}` and `${NAME:-default}` in string values, `$$` for a plain `$`.
 *
 * Expressions are found in the text before YAML is parsed, because braces have a meaning in its flow style (`{ api_key:
 * ${KEY} }`). Marks replace them until the end. Values of the environment are inserted last, so they are never parsed
 * as YAML or expanded again.
 */
type Expression = { readonly name: string; readonly fallback: string | null } | "dollar";

/** A text with marks in the place of expressions. */
export interface MarkedText {
  readonly text: string;
  readonly expressions: readonly Expression[];
}

/** A value after expansion. */
export interface Expanded {
  readonly text: string;
  /** Whether a part is from the environment. Then the value is never printed. */
  readonly isPrivate: boolean;
  /** Variables that are not set and have no default. */
  readonly missing: readonly string[];
}

/** Private-use characters. In YAML they are part of a plain scalar, and no language uses them. */
const [OPEN, CLOSE] = ["\ue000", "\ue001"];
const MARK = /\ue000(\d+)\ue001/g;
const EXPRESSION = /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\r\n]*))?\}/g;

/** Whether a text contains a character that is reserved for marks. */
export function holdsMark(text: string): boolean {
  return text.includes(OPEN) || text.includes(CLOSE);
}

/** Replaces each expression by a mark. */
export function markExpressions(text: string): MarkedText {
  const expressions: Expression[] = [];
  const marked = text.replace(EXPRESSION, (whole, name: string, fallback: string | undefined) => {
    expressions.push(whole === "$$" ? "dollar" : { name, fallback: fallback ?? null });
    return `${OPEN}${expressions.length - 1}${CLOSE}`;
  });
  return { text: marked, expressions };
}

/** Replaces the marks of a value. As in a shell, a default also applies to an empty variable. */
export function expand(text: string, expressions: readonly Expression[], environment: Environment): Expanded {
  const missing: string[] = [];
  let isPrivate = false;
  const expanded = text.replace(MARK, (_, index: string) => {
    const expression = elementAt(expressions, Number(index));
    if (expression === "dollar") return "$";
    isPrivate = true;
    const { name, fallback } = expression;
    const value = environment(name);
    if (value === undefined && fallback === null) missing.push(name);
    return fallback === null ? value ?? "" : value || fallback;
  });
  return { text: expanded, isPrivate, missing };
}

/** Whether a text contains a `${` that is not an expression, such as `${1st}` or one without an end. */
export function holdsBrokenExpression(text: string): boolean {
  return text.includes("${");
}
