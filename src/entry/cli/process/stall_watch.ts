import type { Heartbeat, Heartbeats, ThreadKind } from "../../../platform/lib/process/heartbeats.ts";

/** Time between two looks at the heartbeats. */
export const LOOK_MS = 1_000;
/** A thread whose event loop does not turn for so long is reported. */
export const STALLED_MS = 5_000;
/** A longer time between two looks is that of a suspended machine, in which no thread could run. */
const MAX_LOOK_MS = 2 * LOOK_MS;

/** Threads whose work waits for a disk as long as the disk needs. Another thread would wait as well. */
const NEVER_END_FOR: ReadonlySet<ThreadKind> = new Set(["request log"]);

/** The limits of a {@linkcode StallWatch}, in milliseconds. */
export interface StallLimits {
  /** How long the event loop of a thread may stand still before the process ends; 0 for any time. */
  readonly stallMs: number;
  /** How long a stop may take. */
  readonly stopMs: number;
}

/** What a look has found. */
export type StallFinding =
  /** The event loop of a thread stands still. Found once for each time. */
  | { readonly type: "stalled"; readonly heartbeat: Heartbeat; readonly durationMs: number }
  /** The process must end, because of a thread. */
  | { readonly type: "stalled-too-long"; readonly heartbeat: Heartbeat; readonly durationMs: number }
  /** The process must end, because its stop takes too long. */
  | { readonly type: "stop-too-long"; readonly durationMs: number };

interface Watched {
  beats: number;
  quietMs: number;
  isReported: boolean;
}

/** Finds threads whose event loop stands still, and a stop that does not end. Source: `server.stall_limit`. */
export class StallWatch {
  readonly #heartbeats: Heartbeats;
  readonly #limits: StallLimits;
  readonly #watched = new Map<number, Watched>();
  #stoppingMs = 0;

  constructor(heartbeats: Heartbeats, limits: StallLimits) {
    this.#heartbeats = heartbeats;
    this.#limits = limits;
  }

  /**
   * Looks at all heartbeats, and counts stalls.
   *
   * @param passedMs The time since the last look.
   */
  look(passedMs: number): StallFinding[] {
    const ms = Math.min(Math.max(passedMs, 0), MAX_LOOK_MS);
    const heartbeats = this.#heartbeats.read();
    for (const slot of this.#watched.keys()) if (!heartbeats.has(slot)) this.#watched.delete(slot);
    const found = [...heartbeats].flatMap(([slot, heartbeat]) => this.#lookAt(slot, heartbeat, ms));
    if (!this.#heartbeats.isStopping) return found;
    this.#stoppingMs += ms;
    const durationMs = this.#stoppingMs;
    return durationMs < this.#limits.stopMs ? found : [...found, { type: "stop-too-long", durationMs }];
  }

  #lookAt(slot: number, heartbeat: Heartbeat, ms: number): StallFinding[] {
    const { beats, kind } = heartbeat;
    const before = this.#watched.get(slot);
    if (beats === 0 || before?.beats !== beats) {
      this.#watched.set(slot, { beats, quietMs: 0, isReported: false });
      return [];
    }
    before.quietMs += ms;
    const { stallMs } = this.#limits;
    const durationMs = before.quietMs;
    if (stallMs > 0 && durationMs >= stallMs && !NEVER_END_FOR.has(kind)) {
      return [{ type: "stalled-too-long", heartbeat, durationMs }];
    }
    if (before.isReported || durationMs < STALLED_MS) return [];
    before.isReported = true;
    this.#heartbeats.addStall(kind);
    return [{ type: "stalled", heartbeat, durationMs }];
  }
}
