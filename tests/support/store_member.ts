import type { Store } from "../../src/platform/store/store.ts";

/** A member of a store, bound to it if it is a method: for a proxy that replaces some members. */
export function storeMember<S extends Store>(store: S, name: keyof S): unknown {
  const member = store[name];
  return typeof member === "function" ? member.bind(store) : member;
}
