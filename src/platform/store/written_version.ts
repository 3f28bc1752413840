import type { Commit, CommitResult, Key, Version } from "./store.ts";

/**
 * The version that a commit gave to a key, so that a caller can go on with what it wrote without reading it.
 *
 * @param commit What was committed, with the key in its `set`.
 * @returns Null when the commit was refused, was a repeat, or did not set the key.
 */
export function writtenVersion(commit: Commit, result: CommitResult, key: Key): Version | null {
  if (!result.ok || result.replayed) return null;
  const index = commit.set?.findLastIndex((entry) => isSameKey(entry.key, key)) ?? -1;
  return result.versions[index] ?? null;
}

function isSameKey(one: Key, other: Key): boolean {
  return one.length === other.length && one.every((part, i) => part === other[i]);
}
