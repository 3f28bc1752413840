/** The module of the thread that watches the others. Nothing imports it: see `THREAD_MODULES`. */
import { sleep, systemClock } from "../../../platform/lib/basics/clock.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { Heartbeats } from "../../../platform/lib/process/heartbeats.ts";
import { jsonLog } from "../../../platform/lib/basics/log.ts";
import { LOOK_MS, type StallFinding, StallWatch } from "./stall_watch.ts";
import { createSignalCounter } from "./stop_signals.ts";
import type { WatchData } from "./watch.ts";

/** How long the last line waits for its reader before the process ends. */
const WRITE_MS = 500;
/** How long the main thread has to end the process after a second signal. */
const SECOND_SIGNAL_MS = 2_000;

const encoder = new TextEncoder();
/** The writes that are under way: this thread must not wait for a reader of the log that has stopped to read. */
let written: Promise<unknown> = Promise.resolve();
const log = jsonLog("info", (line) => {
  written = Deno.stderr.write(encoder.encode(`${line}\n`)).catch(() => {}); // nobody reads it
});

globalThis.addEventListener("message", (event) => watch((event as MessageEvent<WatchData>).data), { once: true });

function watch({ buffer, ...limits }: WatchData): void {
  const heartbeats = new Heartbeats(buffer);
  const threads = new StallWatch(heartbeats, limits);
  listenForSignals(() => heartbeats.setStopping());
  let lastAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    const found = threads.look(now - lastAt);
    lastAt = now;
    for (const finding of found) report(finding);
  }, LOOK_MS);
}

function report(finding: StallFinding): void {
  if (finding.type === "stop-too-long") {
    log.error("process.killed", {
      reason: "the stop took longer than server.shutdown_grace and ten seconds",
      durationMs: Math.round(finding.durationMs),
    });
    return holdState(killProcess(), "the end of the process");
  }
  const { heartbeat: { kind, step, id, detail }, durationMs } = finding;
  const isJob = step === "job";
  log.error("event_loop_stalled", {
    ref: kind,
    state: step,
    ...id === "" || step === "none" ? {} : isJob ? { reason: `of ${id}` } : { requestId: id },
    ...detail === "" || step === "none" ? {} : isJob ? { jobKind: detail } : { provider: detail },
    durationMs: Math.round(durationMs),
  });
  if (finding.type === "stalled") return;
  log.error("process.killed", { ref: kind, reason: "the event loop of a thread stood still for server.stall_limit" });
  holdState(killProcess(), "the end of the process");
}

/** The platform can end neither another thread that does not turn its event loop, nor the process in another way. */
async function killProcess(): Promise<void> {
  await Promise.race([written, sleep(systemClock, WRITE_MS)]);
  Deno.kill(Deno.pid, "SIGKILL");
}

/** The main thread ends the process at the second signal, unless it stands still. */
function listenForSignals(onFirst: () => void): void {
  const count = createSignalCounter();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      const meaning = count();
      if (meaning === "first") onFirst();
      if (meaning === "second") {
        holdState(sleep(systemClock, SECOND_SIGNAL_MS).then(killProcess), "the end of the process");
      }
    });
  }
}
