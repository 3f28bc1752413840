/** An operation that may be in progress when the gateway is killed. */
export type Moment = "answer" | "create" | "poll" | "stop" | "result" | "event";

/** Every kind. */
export const MOMENTS: readonly Moment[] = ["answer", "create", "poll", "stop", "result", "event"];

/** Waits for an operation of one run of the gateway. */
export class Moments {
  #awaited: { readonly moment: Moment; left: number; readonly callback: () => void } | null = null;

  /** Calls back at the given occurrence of an operation from now on, the first being 1. */
  await(moment: Moment, count: number, callback: () => void): void {
    this.#awaited = { moment, left: count, callback };
  }

  /** Reports an occurrence. */
  note(moment: Moment): void {
    const awaited = this.#awaited;
    if (awaited?.moment === moment && --awaited.left === 0) this.now();
  }

  /** Stops waiting: calls back now, unless it has already. */
  now(): void {
    const awaited = this.#awaited;
    this.#awaited = null;
    awaited?.callback();
  }
}
