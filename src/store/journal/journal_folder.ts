import { join } from "node:path";
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

/** Reads a journal. A missing folder is an empty journal. Segments that were kept as damaged are not read again. */
export async function readJournal(folder: string): Promise<JournalContents> {
  const segments: number[] = [];
  let nextSegment = 1;
  for (const name of await namesIn(folder)) {
    const match = SEGMENT.exec(name);
    if (match === null) continue;
    const segment = Number(match[1]);
    nextSegment = Math.max(nextSegment, segment + 1);
    if (match[2] === undefined) segments.push(segment);
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
