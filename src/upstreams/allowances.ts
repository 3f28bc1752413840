import type { ReferenceKind } from "../conversation/context_reference.ts";

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
