/** Something that may be under way when the gateway is killed. */
export type Moment = "answer" | "create" | "poll" | "stop" | "result" | "event";

/** Every kind of moment. */
export const MOMENTS: readonly Moment[] = ["answer", "create", "poll", "stop", "result", "event"];

/** Waits for a moment of a life of the gateway. */
export class Moments {
  #awaited: { readonly moment: Moment; left: number; readonly callback: () => void } | null = null;

  /** Calls back at the given one of the moments of this kind from now on, the first being 1. */
  await(moment: Moment, count: number, callback: () => void): void {
    this.#awaited = { moment, left: count, callback };
  }

  /** One of them is now. */
  note(moment: Moment): void {
    const awaited = this.#awaited;
    if (awaited?.moment === moment && --awaited.left === 0) this.now();
  }

  /** The awaited one is given up: it is now, if it has not been. */
  now(): void {
    const awaited = this.#awaited;
    this.#awaited = null;
    awaited?.callback();
  }
}
