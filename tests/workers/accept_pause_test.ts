import { assert, assertEquals } from "@std/assert";
import { Worker } from "node:worker_threads";
import { AcceptPause } from "../../src/platform/lib/process/accept_pause.ts";
import {
  ownAcceptPause,
  processHeartbeats,
  startMainHeartbeat,
  withSlot,
} from "../../src/platform/lib/process/own_heartbeat.ts";
import { stateOf, withPatience } from "../support/patience.ts";
import type { PausingData } from "./pausing_entry.ts";

const ENTRY = new URL("./pausing_entry.ts", import.meta.url);

/** An event loop that turns each millisecond would turn in this time. */
const STILL_MS = 100;

/** A thread that accepts connections. */
class Pausing {
  readonly #turns = new Int32Array(new SharedArrayBuffer(12));
  readonly #worker: Worker;
  readonly #slot: number;

  constructor() {
    const slot = processHeartbeats()?.open("isolate");
    assert(typeof slot === "number");
    this.#slot = slot;
    const workerData: PausingData = { turns: this.#turns.buffer };
    this.#worker = withSlot(slot, () => new Worker(ENTRY, { workerData }));
  }

  get turns(): number {
    return Atomics.load(this.#turns, 0);
  }

  /** Whether the event loop turns again within this time. */
  turnsWithin(maxMs: number): boolean {
    return Atomics.wait(this.#turns, 0, this.turns, maxMs) !== "timed-out";
  }

  /** Resolves when the event loop turns again. */
  async turned(): Promise<void> {
    await this.#changed(0, this.turns);
  }

  /** Resolves when the thread stands still by itself. */
  async stillness(): Promise<void> {
    Atomics.store(this.#turns, 1, 1);
    await this.#changed(2, 0);
  }

  goOn(): void {
    Atomics.store(this.#turns, 1, 0);
    Atomics.notify(this.#turns, 1);
  }

  async #changed(at: number, from: number): Promise<void> {
    await withPatience(`number ${at} of a thread`, Promise.resolve(Atomics.waitAsync(this.#turns, at, from).value));
  }

  async end(): Promise<void> {
    this.goOn();
    await this.#worker.terminate();
    processHeartbeats()?.close(this.#slot);
  }
}

/** Runs a test in a thread with heartbeats. */
async function inProcess(run: (pause: AcceptPause) => Promise<void>): Promise<void> {
  const stop = startMainHeartbeat();
  try {
    const pause = ownAcceptPause();
    assert(pause !== null);
    await run(pause);
  } finally {
    stop();
  }
}

/** Calls `during` until the other threads pause in time, which they may not on a busy machine. */
async function pausedOnce<T>(pause: AcceptPause, run: () => T): Promise<T> {
  const value = await stateOf("the pause of other threads", () => pause.during(run), (value) => value !== null);
  assert(value !== null);
  return value;
}

Deno.test("while a thread pauses the others, their event loops stand still, and go on after it", async () => {
  await inProcess(async (pause) => {
    const threads = [new Pausing(), new Pausing()];
    try {
      await Promise.all(threads.map((thread) => thread.turned()));
      assert(pause.hasOthers);
      const turned = await pausedOnce(pause, () => threads.map((thread) => thread.turnsWithin(STILL_MS)));
      assertEquals(turned, [false, false]);
      await Promise.all(threads.map((thread) => thread.turned()));
    } finally {
      await Promise.all(threads.map((thread) => thread.end()));
    }
    assert(!pause.hasOthers);
    assertEquals(pause.during(() => "alone"), "alone");
  });
});

Deno.test("nothing is done if another thread does not pause in time", async () => {
  await inProcess(async (pause) => {
    const thread = new Pausing();
    try {
      await thread.turned();
      await thread.stillness();
      assertEquals(pause.during(() => "done"), null);
      thread.goOn();
      assertEquals(await pausedOnce(pause, () => "done"), "done");
    } finally {
      await thread.end();
    }
  });
});

Deno.test("a pause whose thread has ended does not last", async () => {
  await inProcess(async (pause) => {
    const thread = new Pausing();
    try {
      await thread.turned();
      const { ints, paused } = pause.memory;
      Atomics.store(ints, paused, 1);
      Atomics.notify(ints, paused);
      await thread.turned();
      assertEquals(await pausedOnce(pause, () => "done"), "done");
    } finally {
      await thread.end();
    }
  });
});

Deno.test("a thread waits a short time for the pause of another, and rests meanwhile", () => {
  const ints = new Int32Array(new SharedArrayBuffer(12));
  const [paused, own] = [0, 1];
  const pause = new AcceptPause({ ints, paused, threads: [own, 2], own });
  const leave = pause.join();
  Atomics.store(ints, paused, 1);
  assertEquals(pause.during(() => "done"), null);
  assertEquals(Atomics.load(ints, paused), 1);
  Atomics.store(ints, paused, 0);
  assertEquals(pause.during(() => "done"), "done");
  leave();
});
