import { assert, assertEquals } from "@std/assert";
import {
  CHECK_EVERY_MS,
  QUIET_CHECKS,
  QUIET_CPU_MS,
  STARTED_BYTES,
  startMemoryReturn,
  WORTHWHILE_BYTES,
} from "../../src/platform/workers/memory_return.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** The check after the start that returns memory. */
const START_CHECK = 2;
const IDLE_BYTES = 80_000_000;
const LOADED_BYTES = IDLE_BYTES + WORTHWHILE_BYTES + 1;

/**
 * A process whose memory and processor time the test sets.
 *
 * @param startBytes What it holds at its start.
 */
function stage(startBytes = IDLE_BYTES) {
  const clock = new ManualClock();
  const state = { bytes: startBytes, cpuMs: 0, afterReturn: IDLE_BYTES, returns: 0 };
  const stop = startMemoryReturn({
    clock,
    residentBytes: () => state.bytes,
    usedCpuMs: () => state.cpuMs,
    returnMemory() {
      state.returns++;
      state.bytes = state.afterReturn;
    },
  });
  return {
    state,
    clock,
    stop,
    /** Passes checks between which the process uses that much processor time. */
    pass(checks: number, cpuMs: number) {
      for (let nth = 0; nth < checks; nth++) {
        state.cpuMs += cpuMs;
        clock.advance(CHECK_EVERY_MS);
      }
    },
  };
}

Deno.test("memory return: memory is returned once after load, when the process was quiet for some checks", () => {
  const { state, pass } = stage();
  state.bytes = LOADED_BYTES;
  pass(5, QUIET_CPU_MS + 1);
  pass(QUIET_CHECKS - 1, QUIET_CPU_MS);
  assertEquals(state.returns, 0);
  pass(1, QUIET_CPU_MS);
  assertEquals([state.returns, state.bytes], [1, IDLE_BYTES]);
  pass(20, 0);
  assertEquals(state.returns, 1);
});

Deno.test("memory return: memory that the start left is returned once, also without a load", () => {
  const { state, pass } = stage(STARTED_BYTES + WORTHWHILE_BYTES + 1);
  pass(QUIET_CHECKS, 0);
  assertEquals([state.returns, state.bytes], [1, IDLE_BYTES]);
  pass(20, 0);
  assertEquals(state.returns, 1);
});

Deno.test("memory return: the memory after the next load is returned as well", () => {
  const { state, pass } = stage();
  for (const returns of [1, 2]) {
    state.bytes = LOADED_BYTES;
    pass(1, QUIET_CPU_MS + 1);
    pass(QUIET_CHECKS, 0);
    assertEquals(state.returns, returns);
    pass(1, 0);
  }
});

Deno.test("memory return: nothing is done for little memory, or while the process works", () => {
  const { state, pass } = stage();
  state.bytes = LOADED_BYTES - 1;
  pass(10, 0);
  state.bytes = LOADED_BYTES;
  pass(10, QUIET_CPU_MS + 1);
  assertEquals(state.returns, 0);
});

Deno.test("memory return: the second check after the start returns memory, if the process is quiet then", () => {
  for (const [cpuMs, returns] of [[QUIET_CPU_MS, 1], [QUIET_CPU_MS + 1, 0]] as const) {
    const { state, pass } = stage(STARTED_BYTES + WORTHWHILE_BYTES + 1);
    pass(START_CHECK - 1, QUIET_CPU_MS + 1);
    assertEquals(state.returns, 0);
    pass(1, cpuMs);
    assertEquals(state.returns, returns);
  }
});

Deno.test("memory return: memory that is in use is not tried again", () => {
  const { state, pass } = stage();
  pass(START_CHECK, QUIET_CPU_MS + 1);
  state.bytes = LOADED_BYTES;
  state.afterReturn = LOADED_BYTES;
  pass(QUIET_CHECKS + 1, 0);
  pass(1, QUIET_CPU_MS + 1);
  pass(QUIET_CHECKS, 0);
  assertEquals(state.returns, 1);
});

Deno.test("memory return: it can be stopped", () => {
  const { clock, stop, pass } = stage();
  pass(2, 0);
  stop();
  assertEquals(clock.waiting, 0);
});

Deno.test("memory return: the thread of a return ends by itself", async () => {
  const script = `
    import { startMemoryReturn } from "${new URL("../../src/platform/workers/memory_return.ts", import.meta.url)}";
    let timer = () => {};
    const clock = { now: Date.now, monotonicMs: Date.now, after: (_, next) => (timer = next, () => {}) };
    let bytes = 0;
    startMemoryReturn({ clock, residentBytes: () => bytes, usedCpuMs: () => 0 });
    bytes = 1e9;
    for (let check = 0; check < ${QUIET_CHECKS}; check++) timer();
    console.log("returned");
  `;
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", script],
    signal: AbortSignal.timeout(30_000),
  }).output();
  assert(success && new TextDecoder().decode(stdout).includes("returned"), "a thread that stays would be killed");
});
