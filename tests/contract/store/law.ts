import type { Clock } from "../../../src/lib/clock.ts";
import type { Store } from "../../../src/store/store.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** An engine under test. `reopen`: closes it as after a crash or a stop, and opens what it kept. */
export interface Opened {
  readonly store: Store;
  readonly reopen?: () => Promise<Store>;
  /** Removes what the engine left, once it is closed. */
  readonly dispose?: () => Promise<void>;
}

/** Opens an empty engine on a clock. */
export type OpenStore = (clock: Clock) => Promise<Opened>;

/** What a law is proved in. */
export interface LawContext {
  readonly store: Store;
  readonly clock: ManualClock;
  /** The store after a restart; the same store where an engine keeps nothing. */
  readonly restarted: () => Promise<Store>;
}

/** Registers one promise of the port as a test. */
export type Law = (promise: string, prove: (world: LawContext) => Promise<void>) => void;

/** Laws of one engine, each with an empty store of its own. */
export function lawsOf(engine: string, open: OpenStore): Law {
  return (promise, prove) => {
    Deno.test(`${engine}: ${promise}`, async () => {
      const clock = new ManualClock();
      const opened = await open(clock);
      let current = opened.store;
      const restarted = async () => current = await opened.reopen?.() ?? current;
      try {
        await prove({ store: opened.store, clock, restarted });
      } finally {
        await current.close();
        await opened.dispose?.();
      }
    });
  };
}
