import { assert } from "@std/assert";
import * as z from "zod";
import { ConfigError } from "../../src/config/tree/config_error.ts";
import { Problems } from "../../src/config/tree/problems.ts";
import { factsOf, withoutWrappers } from "../../src/platform/lib/settings/setting.ts";

/** What a problem in the configuration would say is expected: the noun phrase of a schema. */
export function expectationOf(schema: z.ZodType): string {
  const inner = withoutWrappers(schema);
  if (inner instanceof z.ZodUnknown || inner instanceof z.ZodObject) return "any value";
  if (inner instanceof z.ZodArray) return `a list; each item: ${expectationOf(inner.element as z.ZodType)}`;
  if (inner instanceof z.ZodRecord) {
    const value = expectationOf(inner.valueType as z.ZodType);
    return value === "any value" ? "a section" : `a section; each value: ${value}`;
  }
  const type = problemWith(schema, Symbol());
  // A schema of texts says more about a text that it refuses.
  return type === "text in quotes" ? problemWith(schema, "\u0001") ?? type : type ?? "any value";
}

/** The phrase after "expected" of the problem with a value; null if the schema takes the value. */
function problemWith(schema: z.ZodType, value: unknown): string | null {
  const problems = new Problems("file");
  problems.read(["value"], value, (given, context) => schema.parse(given, context));
  try {
    problems.throwIfAny();
    return null;
  } catch (error) {
    assert(error instanceof ConfigError);
    return /: expected ([^]*), got [^,]*$/.exec(error.problems[0] ?? "")?.[1] ?? null;
  }
}

/** Whether the schema takes a value. */
export function takes(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}

/** The unit that the noun phrase of a schema names; null if it names none. */
export function unitIn(expectation: string): string | null {
  if (expectation.startsWith("a size")) return "bytes";
  if (/\bUSD\b/.test(expectation)) return "USD";
  return /^a (?:whole )?number of (\w+)/.exec(expectation)?.[1] ?? null;
}

/** Whether a schema reads a number, which has a unit. */
export function isNumeric(expectation: string): boolean {
  return /^a (?:whole )?number\b/.test(expectation) || unitIn(expectation) !== null;
}

/** The value of a setting that is not set. */
export type Default =
  | { readonly kind: "required" }
  /** Follows from something else, or is no value at all. */
  | { readonly kind: "derived" }
  /** As an operator would write it. */
  | { readonly kind: "value"; readonly value: unknown };

/** The default of a setting. */
export function defaultOf(schema: z.ZodType): Default {
  const { default: value = null } = factsOf(schema) ?? {};
  if (value !== null) return { kind: "value", value };
  return schema.safeParse(undefined).success ? { kind: "derived" } : { kind: "required" };
}

/** An example that follows from the schema: another value than the default; undefined if only a person can give one. */
export function exampleOf(schema: z.ZodType, fallback: Default): unknown {
  const inner = withoutWrappers(schema);
  const usual = fallback.kind === "value" ? fallback.value : undefined;
  if (inner instanceof z.ZodBoolean) return usual !== true;
  if (inner instanceof z.ZodEnum) return inner.options.find((option) => option !== usual);
  return undefined;
}
