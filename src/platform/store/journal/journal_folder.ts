import { join } from "node:path";
import { PRIVATE_FILE_MODE } from "../../lib/process/private_path.ts";
import type { Key, Store } from "../store.ts";
import { decodeRecords } from "./record.ts";

const SEGMENT = /^(\d{12})\.log(\.damaged)?$/;
const NUMBER_DIGITS = 12;

/** The contents of a journal's folder. */
export interface JournalContents {
  /** The numbers of the segments, in order. */
  readonly segments: readonly number[];
  /** The texts of all whole records, in the order of their writes. */
  readonly texts: readonly string[];
  /** The segments with damage, and the number of damaged bytes of each. */
  readonly damaged: ReadonlyMap<number, number>;
  /** The next free number for a segment. */
  readonly nextSegment: number;
}

/** The path of a segment. */
export function segmentPathOf(folder: string, segment: number): string {
  return join(folder, `${segment.toString().padStart(NUMBER_DIGITS, "0")}.log`);
}

/**
 * Reads a journal. A missing folder is an empty journal. Segments that were kept as damaged are not read again.
 *
 * @param isMeant Which segments are read. Default: all.
 */
export async function readJournal(
  folder: string,
  isMeant: (segment: number) => boolean = () => true,
): Promise<JournalContents> {
  const segments: number[] = [];
  let nextSegment = 1;
  for (const name of await namesIn(folder)) {
    const match = SEGMENT.exec(name);
    if (match === null) continue;
    const segment = Number(match[1]);
    nextSegment = Math.max(nextSegment, segment + 1);
    if (match[2] === undefined && isMeant(segment)) segments.push(segment);
  }
  segments.sort((a, b) => a - b);
  const texts: string[] = [];
  const damaged = new Map<number, number>();
  for (const segment of segments) {
    const records = decodeRecords(await Deno.readFile(segmentPathOf(folder, segment)));
    for (const text of records.texts) texts.push(text);
    if (records.damagedBytes > 0) damaged.set(segment, records.damagedBytes);
  }
  return { segments, texts, damaged, nextSegment };
}

/** The numbers of the segments in a folder, in order, without reading them. A missing folder has none. */
export async function listSegments(folder: string): Promise<readonly number[]> {
  const matches = (await namesIn(folder)).map((name) => SEGMENT.exec(name));
  return matches.flatMap((match) => match !== null && match[2] === undefined ? [Number(match[1])] : [])
    .sort((a, b) => a - b);
}

/** Removes a segment. A missing one is ignored. */
export async function removeSegment(folder: string, segment: number): Promise<void> {
  try {
    await Deno.remove(segmentPathOf(folder, segment));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Renames a segment so that it is not read again, for the operator to look at. Returns its new path. */
export async function keepDamagedSegment(folder: string, segment: number): Promise<string> {
  const path = segmentPathOf(folder, segment);
  const kept = `${path}.damaged`;
  await Deno.rename(path, kept);
  return kept;
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) names.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names;
}

/**
 * Makes the names in a folder durable, so that a new file is found after a power failure. Systems that cannot sync a
 * folder, such as Windows, do so by themselves.
 */
export function syncFolder(folder: string): void {
  try {
    using opened = Deno.openSync(folder, { read: true });
    opened.syncSync();
  } catch { /* the system cannot sync folders */ }
}

/**
 * The mark that a store has charges in a journal beside it. While a gateway runs, the store has the id of its journal,
 * and the folder of the journal has a file with the same id. A store with an id and without that folder was copied
 * without its journal. A gateway that stops without charges in its journal removes the id from the store.
 *
 * The folder gets the id first, so that no kill leaves an id in the store alone.
 */
const ID: Key = ["journal", "id"];
const ID_FILE = "id";

/** Whether the journal that belongs to a store is not in the folder. */
export async function lacksItsJournal(store: Store, folder: string): Promise<boolean> {
  const id = await idOf(store);
  return id !== null && id !== await idIn(folder);
}

/** Marks a store before the first record is appended to its journal. The folder exists. */
export async function markJournal(store: Store, folder: string): Promise<void> {
  if (await idOf(store) !== null) return;
  const id = crypto.randomUUID();
  const path = join(folder, ID_FILE);
  await Deno.writeTextFile(path, `${id}\n`, { mode: PRIVATE_FILE_MODE });
  using file = await Deno.open(path, { write: true });
  await file.sync();
  syncFolder(folder);
  await store.commit(null, { set: [{ key: ID, value: id }] });
}

/**
 * Removes the mark: the store has every charge, or a note of the loss.
 *
 * @param folder The folder of the journal, from which the id is removed afterwards. Default: it has none.
 */
export async function unmarkJournal(store: Store, folder?: string): Promise<void> {
  await store.commit(null, { delete: [ID] });
  if (folder !== undefined) await Deno.remove(join(folder, ID_FILE)).catch(() => {}); // an id without a mark means nothing
}

async function idOf(store: Store): Promise<string | null> {
  const [entry] = await store.get<string>([ID]);
  return entry?.value ?? null;
}

async function idIn(folder: string): Promise<string | null> {
  try {
    return (await Deno.readTextFile(join(folder, ID_FILE))).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
