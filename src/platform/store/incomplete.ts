import type { Key, Store } from "./store.ts";

/**
 * What a store lacked when it was opened: it was copied from a running gateway by a tool that does not copy all of its
 * files at one instant.
 */
export type MissingPart = "write_ahead_log" | "journal_of_charges";

/** A note that a store was opened without a part of it. Money and tasks of its last moments may be missing. */
export interface IncompleteNote {
  readonly missing: MissingPart;
  /** When it was first found, in Unix milliseconds. */
  readonly foundAt: number;
}

const NOTES: Key = ["store", "incomplete"];

/** Notes that a part was missing. The first note of a part is kept. */
export async function noteIncomplete(store: Store, missing: MissingPart): Promise<void> {
  const notes = await incompleteNotes(store);
  if (notes.some((note) => note.missing === missing)) return;
  await store.commit(null, { set: [{ key: NOTES, value: [...notes, { missing, foundAt: store.now() }] }] });
}

/** The notes of a store; empty for a store that was never opened without a part. */
export async function incompleteNotes(store: Store): Promise<readonly IncompleteNote[]> {
  const [entry] = await store.get<readonly IncompleteNote[]>([NOTES]);
  return entry?.value ?? [];
}

/** Removes the notes: the operator knows of the loss. */
export async function removeIncompleteNotes(store: Store): Promise<void> {
  await store.commit(null, { delete: [NOTES] });
}
