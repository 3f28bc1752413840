import type { ListAnswer } from "../../shapes.ts";

/** The most entries that are kept while a list follows the log. */
const MAX_ENTRIES = 1_000;

/**
 * Joins a list with a newer reading of its start. If they share no entry, there is a gap between them, and the newer
 * one replaces the list.
 */
export function joinedNewest<T extends { readonly id: string }>(
  before: ListAnswer<T>,
  newest: ListAnswer<T>,
): ListAnswer<T> {
  const known = new Set(before.data.map(({ id }) => id));
  const added = newest.data.filter(({ id }) => !known.has(id));
  if (added.length === 0) return before;
  const isJoined = added.length < newest.data.length || before.data.length === 0 && newest.next === null;
  if (!isJoined) return newest;
  const data = [...added, ...before.data];
  return data.length <= MAX_ENTRIES ? { data, next: before.next } : newest;
}
