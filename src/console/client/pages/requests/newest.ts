import type { ListAnswer } from "../../shapes.ts";

/** The most entries that are kept while a list follows the log. */
const MAX_ENTRIES = 1_000;

/** What is read of an entry. */
interface Ended {
  readonly received_at: number;
  readonly duration_ms: number;
}

/**
 * The start of the times in which a list's newer entries ended, in Unix seconds: the end of its newest one, which is
 * read again. Null if the list is to be read from its start, because it is empty or too long.
 */
export function newestFrom({ data }: ListAnswer<Ended>): number | null {
  const [newest] = data;
  if (newest === undefined || data.length > MAX_ENTRIES) return null;
  return Math.floor(newest.received_at + newest.duration_ms / 1_000) - 1;
}

/**
 * Joins a list with a newer reading of its start. If they share no entry, there may be a gap between them, and the
 * newer one replaces the list. A reading that is whole has no gap.
 */
export function joinedNewest<T extends { readonly id: string }>(
  before: ListAnswer<T>,
  newest: ListAnswer<T>,
): ListAnswer<T> {
  const known = new Set(before.data.map(({ id }) => id));
  const added = newest.data.filter(({ id }) => !known.has(id));
  if (added.length === 0) return before;
  const isJoined = added.length < newest.data.length || newest.next === null;
  if (!isJoined || before.data.length > MAX_ENTRIES) return newest;
  return { data: [...added, ...before.data], next: before.next };
}
