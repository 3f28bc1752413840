/** A thread that accepts connections, as far as other threads see, and counts how often its event loop turns. */
import { workerData } from "node:worker_threads";
import { ownAcceptPause, startThreadHeartbeat } from "../../src/platform/lib/process/own_heartbeat.ts";

/** What the thread gets. */
export interface PausingData {
  /**
   * The first number counts turns; the second is 1 while the thread is to stand still by itself; the third is 1 while
   * it does.
   */
  readonly turns: SharedArrayBuffer;
}

startThreadHeartbeat();
const turns = new Int32Array((workerData as PausingData).turns);
ownAcceptPause()?.join();
setInterval(() => {
  Atomics.add(turns, 0, 1);
  Atomics.notify(turns, 0);
  if (Atomics.load(turns, 1) === 0) return;
  Atomics.store(turns, 2, 1);
  Atomics.notify(turns, 2);
  Atomics.wait(turns, 1, 1);
  Atomics.store(turns, 2, 0);
}, 1);
