import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Journal } from "../../../platform/store/journal/journal.ts";
import type { StoreLimits } from "../../../platform/store/store.ts";
import { areRowsFitting, type WrittenCharge } from "./charge.ts";

/**
 * Charges of one account that share a ledger entry. The reference exists before the first row, so every row in the
 * journal names the entry that it belongs to. A replay commits a group under the same reference, and the store refuses
 * a group that it has.
 *
 *     open (rows are added) → its commit begins, or it is full → closed → written
 */
export class ChargeGroup implements WrittenCharge {
  readonly rows: string[] = [];
  total: Money = 0n;
  /** The rows that are in no journal, so that they are lost when the process ends before they are written. */
  readonly unjournaled: string[] = [];
  #characters = 0;
  #isClosed = false;
  #isWritten = false;
  #finalError: unknown = null;
  #segments: number[] = [];
  #written: PromiseWithResolvers<void> | null = null;

  /**
   * @param startedAt When its first row was added, in milliseconds of a clock that never goes backwards. Default: 0,
   * for groups of an earlier process.
   */
  constructor(readonly account: string, readonly reference: string, readonly startedAt = 0) {}

  /** Whether the group has room for a written row. A group without rows always has, unless it is closed. */
  hasRoomFor(row: string, limits: StoreLimits): boolean {
    if (this.#isClosed) return false;
    const size = { count: this.rows.length + 1, characters: this.#characters + row.length };
    return this.rows.length === 0 || areRowsFitting(size, limits);
  }

  /** Adds a row. */
  add(row: string, amount: Money): void {
    this.rows.push(row);
    this.#characters += row.length;
    this.total += amount;
  }

  /** A closed group of rows that another thread wrote, with their sum. */
  static ofRows(
    { account, reference, rows, total }: WrittenCharge,
    { unjournaled, startedAt }: { readonly unjournaled: readonly string[]; readonly startedAt: number },
  ): ChargeGroup {
    const group = new ChargeGroup(account, reference, startedAt);
    appendAll(group.rows, rows);
    appendAll(group.unjournaled, unjournaled);
    group.total = total;
    group.close();
    return group;
  }

  /** No row is added any more: another thread writes the group to the ledger. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Appends an added row to a journal, and holds its segment. The record may exist although the append failed: the row
   * stays in the group, so it is not charged twice.
   *
   * @returns Nothing if the row is durable, a promise if it will be, null if the append failed.
   */
  appendTo(journal: Journal, row: string): MaybePromise<void> | null {
    try {
      return journal.append(journalRecordOf(this, row));
    } catch {
      return null;
    } finally {
      this.#holdSegment(journal);
    }
  }

  #holdSegment(journal: Journal): void {
    if (this.#segments.at(-1) === journal.segment) return;
    this.#segments.push(journal.segment);
    journal.hold();
  }

  /** Releases the segments, because the group needs no replay. */
  releaseSegments(journal: Journal): void {
    for (const segment of this.#segments) journal.release(segment);
    this.#segments = [];
  }

  /** Resolves once the group is in the ledger. Rejects when an attempt to write it fails, or if it is given up. */
  whenWritten(): Promise<void> {
    if (this.#isWritten) return Promise.resolve();
    if (this.#finalError !== null) return Promise.reject(this.#finalError);
    return (this.#written ??= Promise.withResolvers<void>()).promise;
  }

  /** Whether the group is given up. */
  get isLost(): boolean {
    return this.#finalError !== null;
  }

  /** Notes that the group is in the ledger. */
  noteWritten(): void {
    this.#isWritten = true;
    this.#written?.resolve();
  }

  /** Notes that an attempt failed. Those who wait for it get the error. */
  noteFailure(error: unknown): void {
    this.#written?.reject(error);
    this.#written = null;
  }

  /** Notes that the group is given up. */
  noteLost(error: GatewayError): void {
    this.#finalError = error;
    this.noteFailure(error);
  }
}

/** The record of a row in the journal: the reference of its group, the account and the row, with spaces between. */
function journalRecordOf({ reference, account }: ChargeGroup, row: string): string {
  return `${reference} ${account} ${row}`;
}
