import type { Clock } from "../../../src/platform/lib/basics/clock.ts";
import type { StoreEngine } from "../../../src/platform/store/engine.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** An engine under test. `reopen` closes it as after a crash or a stop, and opens it again. */
export interface Opened {
  readonly store: StoreEngine;
  readonly reopen?: () => Promise<StoreEngine>;
  /** Removes the engine's files after it was closed. */
  readonly dispose?: () => Promise<void>;
}

/** Opens an empty engine on a clock. */
export type OpenStore = (clock: Clock) => Promise<Opened>;

/** What a contract test gets. */
export interface LawContext {
  readonly store: StoreEngine;
  readonly clock: ManualClock;
  /** Restarts the store; the same store if the engine stores nothing. */
  readonly restarted: () => Promise<StoreEngine>;
}

/** Registers one contract test. */
export type Law = (promise: string, run: (context: LawContext) => Promise<void>) => void;

/** Registers contract tests for one engine, each with a new empty store. */
export function lawsOf(engine: string, open: OpenStore): Law {
  return (promise, run) => {
    Deno.test(`${engine}: ${promise}`, async () => {
      const clock = new ManualClock();
      const opened = await open(clock);
      let current = opened.store;
      const restarted = async () => current = await opened.reopen?.() ?? current;
      try {
        await run({ store: opened.store, clock, restarted });
      } finally {
        await current.close();
        await opened.dispose?.();
      }
    });
  };
}
