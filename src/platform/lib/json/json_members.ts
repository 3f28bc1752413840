import type { JsonScan } from "./json.ts";

/**
 * Whether any object of a JSON text, at any depth, has a repeated name. `JSON.parse` keeps the last of such members.
 * Another parser may keep the first, so the checked value could differ from the one a vendor uses.
 */
export function hasRepeatedMember({ memberCount }: Pick<JsonScan, "memberCount">, value: object): boolean {
  return memberCount !== keysIn(value);
}

function keysIn(value: object): number {
  let keys = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === "object" && element !== null) keys += keysIn(element);
    return keys;
  }
  for (const key in value) {
    const inner = (value as { readonly [key: string]: unknown })[key];
    keys += 1 + (typeof inner === "object" && inner !== null ? keysIn(inner) : 0);
  }
  return keys;
}
