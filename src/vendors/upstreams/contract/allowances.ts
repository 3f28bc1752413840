import type { ReferenceKind } from "../../../conversation/contract/context_reference.ts";

/**
 * References and tools that callers of a provider may use in addition to their own account's, as configured by the
 * operator.
 */
export interface Allowances {
  /** `kind:id`, or `kind:*` for every id that does not belong to another account. */
  readonly references: readonly string[];
  /** Names of hosted tools, or `*` for all. */
  readonly tools: readonly string[];
}

/** No allowances, the default. */
export const NO_ALLOWANCES: Allowances = { references: [], tools: [] };

/** The kinds that `allow_references` may name. Buckets are allowed per account, and URLs need no permission. */
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

/** How the allowances match a reference: by its exact id, by a wildcard for its kind, or not at all. */
export function allowanceOf({ references }: Allowances, kind: ReferenceKind, id: string): "exact" | "any" | null {
  if (references.length === 0) return null;
  if (id !== "*" && references.includes(`${kind}:${id}`)) return "exact";
  return references.includes(`${kind}:*`) ? "any" : null;
}

/** Whether callers may use a hosted tool that has no price. */
export function allowsTool({ tools }: Allowances, name: string): boolean {
  return tools.includes("*") || tools.includes(name);
}
