import { batchDigitsOf } from "./batch.ts";

/**
 * The states of a vendor's batch:
 *
 *     cut → creating → open → ended
 *             └ refused for now → cut
 *
 * `cut`: its lines are written, and the vendor has nothing. `creating`: the vendor may have it. `open`: the vendor has
 * it. `ended`: its lines are settled, or end with the batch.
 */
export type VendorBatchState = "cut" | "creating" | "open" | "ended";

/** The end of the results that were read: all lines before it are settled. */
export interface ResultPlace {
  /** The number of its file in the list of results, from 0. */
  readonly file: number;
  readonly bytes: number;
}

/** Lines of a batch that a vendor runs as one batch. */
export interface VendorBatch {
  /** From 1, in the batch. */
  readonly number: number;
  readonly state: VendorBatchState;
  /** The id of the provider, with its credential. */
  readonly provider: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** Of the endpoint below the provider's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The numbers of its lines, as a set of bits: line 1 is the lowest bit of the first byte. */
  readonly lines: Uint8Array<ArrayBuffer>;
  readonly count: number;
  /** Of the content with its lines. */
  readonly bytes: number;
  /** How often it was sent. A part of its mark, so that each is found by its own. */
  readonly sent: number;
  /** How often it was sent without an answer and never listed by the vendor. Absent: never. */
  readonly unlisted?: number;
  /** How often in a row the vendor could not be called, or refused for now. */
  readonly failures: number;
  /** How often its results were read, and lacked lines. */
  readonly reads: number;
  /** Where the next read of the results begins. Absent: at the start. */
  readonly place?: ResultPlace;
  /** The uploaded file at the vendor; null for none. */
  readonly file: string | null;
  /** The vendor's id; null until it is known. */
  readonly vendorId: string | null;
  /** Unix milliseconds: when the create was sent, and when the vendor was known to have it; null before. */
  readonly sentAt: number | null;
  /** When the vendor was asked to cancel it; null if it was not. */
  readonly cancelledAt: number | null;
  /** Nothing is to be done before, in Unix milliseconds. */
  readonly dueAt: number;
}

/** The name of the content with the lines as the vendor gets them. */
export function vendorContentNameOf(batchId: string, number: number): string {
  return `batch-${batchDigitsOf(batchId)}-vendor${number}.bin`;
}

/** The gateway's name for a batch at its vendor. */
export function markOf(batchId: string, { number, sent }: Pick<VendorBatch, "number" | "sent">): string {
  return `${batchDigitsOf(batchId)}-${number}-${sent}`;
}

/** What the ids of the lines of a vendor's batch begin with. All vendors accept them. */
export function idPrefixOf(batchId: string, number: number): string {
  return `${batchDigitsOf(batchId)}-${number}-`;
}

/** The number of the line that an id of a vendor's result stands for; null for one of another batch. */
export function lineNumberOf(prefix: string, id: string): number | null {
  const digits = id.startsWith(prefix) ? id.slice(prefix.length) : "";
  return /^[1-9][0-9]{0,6}$/.test(digits) ? Number(digits) : null;
}

/** An empty set of lines of a batch with so many. */
export function noLines(total: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.ceil(total / 8));
}

/** Whether a set has a line. */
export function hasLine(lines: Uint8Array, number: number): boolean {
  return ((lines[(number - 1) >> 3] ?? 0) >> ((number - 1) & 7) & 1) === 1;
}

/** Adds a line to a set. */
export function addLine(lines: Uint8Array, number: number): void {
  const index = (number - 1) >> 3;
  lines[index] = (lines[index] ?? 0) | (1 << ((number - 1) & 7));
}
