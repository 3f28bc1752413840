import { type ChargeRow, writeRow } from "../../money/billing/ledger/charge.ts";
import { ChargeGroup } from "../../money/billing/ledger/charge_group.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { newSortableId } from "../../platform/lib/basics/ids.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { Journal } from "../../platform/store/journal/journal.ts";
import type { StoreLimits } from "../../platform/store/store.ts";
import { type ChargedRows, ROW_SEPARATOR } from "../state/messages.ts";
import type { PlainError } from "../state/plain_error.ts";
import { errorOf } from "../state/plain_error.ts";

/** The dependencies of {@linkcode JournaledCharges}. */
export interface JournaledChargesOptions {
  /** Of this thread. */
  readonly journal: Journal;
  readonly storeLimits: StoreLimits;
  readonly clock: Clock;
  /** Called when there are charges for the main thread, with whether they can wait for others. */
  readonly onCharged: (canWait: boolean) => void;
}

/**
 * The charges of a thread: in its own journal, so that they survive the end of the process, then with the main thread,
 * which writes them to the ledger. A replay of the journal charges none twice, since both use one reference.
 *
 *     add → journal → the open group of the account → take: closed, sent → written: its segment is released
 */
export class JournaledCharges {
  readonly #open = new Map<string, ChargeGroup>();
  /** Closed because they were full, and not sent. */
  #full: ChargeGroup[] = [];
  readonly #sent = new Map<string, ChargeGroup>();
  #onAllWritten: (() => void) | null = null;

  constructor(private readonly options: JournaledChargesOptions) {}

  /** Adds a charge. Returns nothing if it is durable, otherwise a promise, as `Admission.charge` does. */
  add(accountId: string, row: ChargeRow): MaybePromise<void> {
    const { journal, onCharged } = this.options;
    const written = writeRow(row);
    const group = this.#groupFor(accountId, written);
    group.add(written, row.amount);
    const appended = group.appendTo(journal, written);
    if (appended === null) return this.#untilWritten(group, written);
    onCharged(true);
    // The group may be sent before its record is durable. Then it is in the ledger all the sooner.
    if (appended) return appended.catch(() => this.#untilWritten(group, written));
  }

  /** Closes the groups and returns what the main thread must write. */
  take(): ChargedRows[] {
    const groups = [...this.#full, ...this.#open.values()];
    this.#full = [];
    this.#open.clear();
    return groups.map((group) => {
      group.close();
      const { account: accountId, reference, rows, total, unjournaled } = group;
      this.#sent.set(reference, group);
      return { accountId, reference, rows: rows.join(ROW_SEPARATOR), total: String(total), unjournaled };
    });
  }

  /** The main thread has written groups, or given them up. */
  onWritten(references: readonly string[]): void {
    for (const reference of references) {
      const group = this.#sent.get(reference);
      this.#sent.delete(reference);
      group?.noteWritten();
      group?.releaseSegments(this.options.journal);
    }
    if (this.#isIdle) this.#onAllWritten?.();
  }

  /** The main thread cannot write a group now. It tries again. */
  onUnwritten(reference: string, failure: PlainError): void {
    this.#sent.get(reference)?.noteFailure(errorOf(failure));
  }

  /** Resolves when all charges are in the ledger. */
  async whenWritten(): Promise<void> {
    if (!this.#isIdle) await new Promise<void>((resolve) => this.#onAllWritten = resolve);
  }

  get #isIdle(): boolean {
    return this.#sent.size === 0 && this.#open.size === 0 && this.#full.length === 0;
  }

  #groupFor(accountId: string, row: string): ChargeGroup {
    const { clock, storeLimits } = this.options;
    const open = this.#open.get(accountId);
    if (open?.hasRoomFor(row, storeLimits)) return open;
    if (open !== undefined) this.#full.push(open);
    const group = new ChargeGroup(accountId, `charge_${newSortableId(clock.now())}`, clock.monotonicMs());
    this.#open.set(accountId, group);
    return group;
  }

  /** A charge that is in no journal waits for the ledger. */
  #untilWritten(group: ChargeGroup, row: string): Promise<void> {
    const written = group.whenWritten();
    group.unjournaled.push(row);
    this.options.onCharged(false);
    return written;
  }
}
