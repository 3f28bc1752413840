import * as z from "zod";
import type { ReferenceKind } from "../conversation/references.ts";

/** What callers of a provider may use beside what belongs to their own account, as the operator names it. */
export interface Allowances {
  /** `kind:id`, or `kind:*` for every id that is not another account's. */
  readonly references: readonly string[];
  /** Hosted tools by name, or `*` for all. */
  readonly tools: readonly string[];
}

/** Nothing, which is the default. */
export const NO_ALLOWANCES: Allowances = { references: [], tools: [] };

/** Kinds that `allow_references` may name. Buckets are allowed by account, and addresses need no permission. */
export const ALLOWED_KINDS: readonly Exclude<ReferenceKind, "bucket" | "address" | "cached_content">[] = [
  "prompt",
  "file",
  "vector_store",
  "skill",
  "voice",
  "asset",
  "conversation",
  "response",
  "item",
  "container",
  "audio",
];

const REFERENCE = new RegExp(`^(${ALLOWED_KINDS.join("|")}):[\\x21-\\x7e]{1,512}$`);
const REFERENCE_EXPECTATION = `a kind, a colon and an id or *, such as "prompt:pmpt_123"; kinds: ${
  ALLOWED_KINDS.join(", ")
}`;
const TOOL_EXPECTATION = 'the name of a hosted tool, such as "code_interpreter", or "*"';

/** The `allow_references` of a provider; its messages read on from "expected". */
export function referencesSchema(): z.ZodType<string[]> {
  return z.array(z.string(REFERENCE_EXPECTATION).regex(REFERENCE, REFERENCE_EXPECTATION), "a list").default([]);
}

/** The `allow_tools` of a provider. */
export function toolsSchema(): z.ZodType<string[]> {
  return z.array(z.string(TOOL_EXPECTATION).regex(/^(\*|[a-z0-9_.-]{1,64})$/, TOOL_EXPECTATION), "a list").default([]);
}

/** How an allowance names a reference: by its very id, by its kind alone, or not. */
export function allowanceOf({ references }: Allowances, kind: ReferenceKind, id: string): "exact" | "any" | null {
  if (references.length === 0) return null;
  if (id !== "*" && references.includes(`${kind}:${id}`)) return "exact";
  return references.includes(`${kind}:*`) ? "any" : null;
}

/** Whether callers may use a hosted tool that has no price. */
export function allowsTool({ tools }: Allowances, name: string): boolean {
  return tools.includes("*") || tools.includes(name);
}
