import type { Log } from "../../lib/basics/log.ts";
import type { DueTime } from "../wake_listeners.ts";
import { type Database, reasonOf } from "./database.ts";
import type { EngineClock } from "./engine_clock.ts";

const CHANNEL = "switchyard_wake";
/** The time in which due times are collected for a message. */
const INTERVAL_MS = 50;
/** The least time between two announcements of one node, for which others wait. */
const ANNOUNCED_INTERVAL_MS = 10;
/** Later due times are found by the poll of each node. */
const RANGE_MS = 1_000;
/** The server takes 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_000;

/**
 * Tells other nodes that jobs are due. Messages are sent after the commit and apart from it, since a message within a
 * transaction takes a lock that all commits of the server share. They may be lost: each node also polls.
 */
export class WakeMessages {
  readonly #sql: Database;
  readonly #clock: EngineClock;
  readonly #log: Log;
  readonly #node = crypto.randomUUID();
  /** What the next message tells: the first due time of each kind. */
  readonly #next = new Map<string, number>();
  #stopTimer: (() => void) | null = null;
  #sentMs = -Infinity;
  #stopListening: () => Promise<void> = () => Promise.resolve();
  #isClosed = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(sql: Database, clock: EngineClock, log: Log) {
    this.#sql = sql;
    this.#clock = clock;
    this.#log = log;
  }

  /** Starts to listen for messages of other nodes. Never rejects: without messages the poll finds the jobs. */
  async listen(onDue: (due: DueTime) => void): Promise<void> {
    try {
      const { unlisten } = await this.#sql.listen(CHANNEL, (payload) => {
        for (const due of this.#dueTimesIn(payload)) onDue(due);
      });
      this.#stopListening = unlisten;
    } catch (error) {
      if (!this.#isClosed) this.#log.warn("wake_messages_unavailable", { reason: reasonOf(error) });
    }
  }

  /** Tells the other nodes in a while. */
  tell(due: readonly DueTime[]): void {
    const until = this.#clock.now() + RANGE_MS;
    for (const { kind, dueAt } of due) {
      if (dueAt <= until) this.#next.set(kind, Math.min(dueAt, this.#next.get(kind) ?? Infinity));
    }
    if (this.#next.size > 0 && this.#stopTimer === null) this.#sendAfter(INTERVAL_MS);
  }

  /** Tells the other nodes immediately, unless the last message was a moment ago. */
  announce(kind: string): void {
    this.#next.set(kind, 0);
    const waitMs = this.#sentMs + ANNOUNCED_INTERVAL_MS - this.#clock.monotonicMs();
    this.#stopTimer?.();
    this.#sendAfter(waitMs);
  }

  #sendAfter(waitMs: number): void {
    const send = () => {
      this.#stopTimer = null;
      this.#sending = this.#send();
    };
    if (this.#isClosed) return;
    if (waitMs <= 0) send();
    else this.#stopTimer = this.#clock.after(waitMs, send);
  }

  /** Ends the messages. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    await this.#sending;
    await this.#stopListening().catch(() => {}); // the connection is closed anyway
  }

  async #send(): Promise<void> {
    const due = [...this.#next];
    this.#next.clear();
    this.#sentMs = this.#clock.monotonicMs();
    const payload = JSON.stringify({ node: this.#node, due });
    if (payload.length > MAX_PAYLOAD_BYTES) return;
    await this.#sql`select pg_notify(${CHANNEL}, ${payload})`.catch(() => {}); // a hint
  }

  #dueTimesIn(payload: string): DueTime[] {
    try {
      const { node, due } = JSON.parse(payload) as { node: unknown; due: [string, number][] };
      return node === this.#node ? [] : due.map(([kind, dueAt]) => ({ kind: String(kind), dueAt: Number(dueAt) }));
    } catch {
      return [];
    }
  }
}
