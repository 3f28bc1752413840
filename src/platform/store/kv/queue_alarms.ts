import type { Clock } from "../../lib/basics/clock.ts";
import type { DueTime } from "../wake_listeners.ts";

/** The longest delay of a message. Deno KV accepts 30 days; the periodic check for overdue jobs finds later jobs. */
const MAX_DELAY_MS = 30 * 24 * 3_600_000 - 60_000;
/** One message serves all jobs of a kind that are due within this span. */
const MESSAGE_INTERVAL_MS = 1_000;
const CLEANUP_INTERVAL_MS = 60_000;

/** A message of the database's queue with the kind that may be due. */
interface AlarmMessage {
  readonly alarm: string;
}

/**
 * Wake-ups by delayed messages of the database's queue, written in the same atomic write as the due time. They also
 * arrive when a timer of the process was lost.
 */
export class QueueAlarms {
  readonly #pending = new Map<string, number>();
  readonly #clock: Clock;
  #cleanedAt = 0;

  /** @param clock The clock of the due times. The queue uses the system's clock for its delays. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a message for each kind and second that has none yet. Returns what to call once the write is durable. */
  enqueue(atomic: Deno.AtomicOperation, due: readonly DueTime[]): () => void {
    const now = this.#clock.now();
    const added = new Map<string, number>();
    for (const { kind, dueAt } of due) {
      if (dueAt <= now) continue;
      const wakesAt = Math.ceil(dueAt / MESSAGE_INTERVAL_MS) * MESSAGE_INTERVAL_MS;
      const name = `${wakesAt} ${kind}`;
      if (this.#pending.has(name) || added.has(name)) continue;
      const delay = Math.min(Math.ceil(wakesAt - now), MAX_DELAY_MS);
      atomic.enqueue({ alarm: kind } satisfies AlarmMessage, { delay, backoffSchedule: [] });
      added.set(name, wakesAt);
    }
    return () => {
      for (const [name, wakesAt] of added) this.#pending.set(name, wakesAt);
      if (added.size > 0) this.#removePast(now);
    };
  }

  #removePast(now: number): void {
    if (now < this.#cleanedAt + CLEANUP_INTERVAL_MS) return;
    this.#cleanedAt = now;
    for (const [name, wakesAt] of this.#pending) {
      if (wakesAt <= now) this.#pending.delete(name);
    }
  }
}

/** The kind of a wake-up message; null for any other message. */
export function alarmKindOf(message: unknown): string | null {
  const kind = (message as Partial<AlarmMessage> | null)?.alarm;
  return typeof kind === "string" ? kind : null;
}
