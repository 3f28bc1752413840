/** An operation that may be in progress when the gateway is killed. */
export type KillPoint = "answer" | "create" | "poll" | "stop" | "result" | "event";

/** Every kind. */
export const KILL_POINTS: readonly KillPoint[] = ["answer", "create", "poll", "stop", "result", "event"];

/** Waits for an operation of one run of the gateway. */
export class KillPoints {
  #awaited: { readonly moment: KillPoint; left: number; readonly callback: () => void } | null = null;

  /** Calls back at the given occurrence of an operation from now on, the first being 1. */
  await(moment: KillPoint, count: number, callback: () => void): void {
    this.#awaited = { moment, left: count, callback };
  }

  /** Reports an occurrence. */
  report(moment: KillPoint): void {
    const awaited = this.#awaited;
    if (awaited?.moment === moment && --awaited.left === 0) this.stopWaiting();
  }

  /** Stops waiting: calls back now, unless it has already. */
  stopWaiting(): void {
    const awaited = this.#awaited;
    this.#awaited = null;
    awaited?.callback();
  }
}
