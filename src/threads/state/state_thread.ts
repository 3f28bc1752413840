import { MessageChannel } from "node:worker_threads";
import { systemClock } from "../../platform/lib/basics/clock.ts";
import type { ThreadKind } from "../../platform/lib/process/heartbeats.ts";
import type { Store } from "../../platform/store/store.ts";
import { threadStarter, type WorkerThread, type WorkerThreadEvents } from "../../platform/workers/worker_thread.ts";
import type { BlockingResult, StateThreadData } from "./messages.ts";
import { SharedStoreTime } from "./shared_store_time.ts";

/** A thread with access to the state on the main thread. */
export interface StateThread extends WorkerThread {
  /** Sends the result of a question that blocks the thread. */
  sendResult(result: BlockingResult): void;
}

/** How a {@linkcode StateThread} is started. */
export interface StateThreadOptions {
  /** What the watch names it. */
  readonly kind: ThreadKind;
  /** The module that the thread runs. It receives `data` and `StateThreadData`. */
  readonly entry: URL;
  /** The JavaScript heap limit in megabytes. */
  readonly heapMegabytes: number;
  readonly store: Pick<Store, "limits" | "now">;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Starts a thread with access to the state. */
export function startStateThread(
  { kind, entry, heapMegabytes, store, data }: StateThreadOptions,
  events: WorkerThreadEvents,
): StateThread {
  const { port1, port2 } = new MessageChannel();
  const resultFlag = new SharedArrayBuffer(4);
  const flag = new Int32Array(resultFlag);
  const time = new SharedStoreTime(store, systemClock);
  const access: StateThreadData = { results: port2, resultFlag, storeLimits: store.limits, storeTime: time.buffer };
  const thread = threadStarter({ kind, entry, heapMegabytes, data: { ...data, ...access }, ports: [port2] })(events);
  port1.unref();
  return {
    ...thread,
    sendResult(result) {
      port1.postMessage(result);
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
    },
    terminate() {
      thread.terminate();
      port1.close();
      time.close();
    },
  };
}
