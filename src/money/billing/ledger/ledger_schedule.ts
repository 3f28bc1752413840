import type { Clock } from "../../../platform/lib/basics/clock.ts";

/** Charges that can be written to the ledger. */
interface Writable {
  /** Starts to write them. */
  write(): void;
}

/**
 * How long a charge in the journal waits for its commit to the ledger. With the duration of the commit, a power failure
 * loses about the last 50 ms of the charges that the system has not written to the disk. Source:
 * docs/configuration.md#durability-of-charges.
 */
const DELAY_MS = 40;
/** Accounts whose commits start in one turn of the event loop. They fit into one write of the store. */
const ACCOUNTS_PER_TURN = 32;

/** Starts the ledger commits of all accounts with charges in the journal, together, 40 ms after the first charge. */
export class LedgerSchedule {
  #waiting = new Set<Writable>();

  constructor(private readonly clock: Clock) {}

  /** Writes an account's charges at the next time. */
  add(charges: Writable): void {
    if (this.#waiting.size === 0) {
      this.clock.after(DELAY_MS, () => {
        const due = [...this.#waiting];
        this.#waiting = new Set();
        this.#write(due);
      });
    }
    this.#waiting.add(charges);
  }

  /** Many accounts are spread over several turns, so that none of them is long. */
  #write(due: readonly Writable[]): void {
    for (const charges of due.slice(0, ACCOUNTS_PER_TURN)) charges.write();
    const rest = due.slice(ACCOUNTS_PER_TURN);
    if (rest.length > 0) this.clock.after(0, () => this.#write(rest));
  }
}
