import { type MessagePort as NodePort, type Transferable as NodeTransferable, Worker } from "node:worker_threads";
import { type GuardMessage, isGuardMessage } from "./guard_message.ts";
import { GatewayError } from "../lib/basics/gateway_error.ts";
import type { ThreadKind } from "../lib/process/heartbeats.ts";
import { DESCRIPTOR_RETRY_SECONDS } from "../lib/process/late.ts";
import { processHeartbeats, withSlot } from "../lib/process/own_heartbeat.ts";
import { endWatched } from "./ending_thread.ts";
import { startWithDescriptors } from "./thread_start.ts";

/** What can move to another thread instead of being copied. */
export type Moved = ArrayBuffer | MessagePort;

/** The same for the functions of Node.js, whose types know only ports of their own. The platform has one kind. */
export function movedForNode(moved: readonly Moved[]): NodeTransferable[] {
  return [...moved] as unknown as NodeTransferable[];
}

/** A thread with its own memory limit that receives messages. */
export interface WorkerThread {
  /** Sends a message. Buffers and ports move to the thread and cannot be used here afterwards. */
  post(message: unknown, moved: readonly Moved[]): void;
  /** Ends the thread. Running code is not interrupted: the thread ends when it next yields. */
  terminate(): void;
  /** Whether the thread keeps the process alive. */
  setReferenced(isReferenced: boolean): void;
}

/** Events of a thread. */
export interface WorkerThreadEvents {
  /** The thread sent a message. */
  onMessage(message: unknown): void;
  /** The thread ended with an uncaught error or at its memory limit. Called at most once. */
  onCrash(reason: string): void;
}

/**
 * After this time without work a thread ends and its memory is free again, about 100 MB after large requests. V8 needs
 * some more seconds to return what the main thread held for it. So a minute after heavy load the memory is returned. A
 * shorter time would cost more conversations the start of a thread, which takes up to a second on a busy core.
 */
export const THREAD_IDLE_MS = 45_000;

/** A thread that cannot be started now. */
export class ThreadUnavailable extends GatewayError {
  constructor() {
    super("overloaded", "The gateway has too few free file descriptors for another thread. Retry in a few seconds", {
      retryAfterSeconds: DESCRIPTOR_RETRY_SECONDS,
    });
  }
}

/**
 * Starts a thread.
 *
 * @throws {ThreadUnavailable} If too few descriptors are free.
 */
export type StartThread = (events: WorkerThreadEvents) => WorkerThread;

/** How threads are started. */
export interface ThreadOptions {
  /** What the watch names it. */
  readonly kind: ThreadKind;
  /** The module that the thread runs. */
  readonly entry: URL;
  /** The JavaScript heap limit in megabytes. A thread that exceeds it ends; the process continues. */
  readonly heapMegabytes: number;
  /** Passed to the module as `workerData`. Default: none. */
  readonly data?: unknown;
  /** Ports in `data`, which move to the thread. Default: none. */
  readonly ports?: readonly NodePort[];
}

/**
 * Returns a function that starts threads.
 *
 * Threads are Node.js worker threads, since only these have a memory limit. A web worker that exceeds its memory ends
 * the process. Each module calls `guardThread`, which reports a heap that was used up where the platform does not. Byte
 * arrays must be sent as `ArrayBuffer`: the platform visits each element of a typed array.
 */
export function threadStarter({ kind, entry, heapMegabytes, data, ports = [] }: ThreadOptions): StartThread {
  return ({ onMessage, onCrash }) => {
    const heartbeats = processHeartbeats();
    const slot = heartbeats?.open(kind) ?? null;
    const worker = startWithDescriptors(() =>
      withSlot(slot, () =>
        new Worker(entry, {
          workerData: data,
          transferList: [...ports],
          resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
        }))
    );
    if (worker === null) {
      if (slot !== null) heartbeats?.close(slot);
      throw new ThreadUnavailable();
    }
    let isOver = false;
    let isEnding = false;
    let hasExited = false;
    const crashed = (reason: string) => {
      if (isOver) return;
      isOver = true;
      onCrash(reason);
    };
    const onGuardMessage = ({ guard, stack }: GuardMessage) => {
      if (guard === "unhandled") return reportError(new ThreadError(stack));
      crashed(OUT_OF_MEMORY);
      worker.terminate();
    };
    worker.on("message", (message) => {
      if (isGuardMessage(message)) onGuardMessage(message);
      else if (!isOver) onMessage(message);
    });
    worker.on("error", (error) => crashed(reasonOf(error)));
    worker.on("exit", () => {
      hasExited = true;
      if (slot !== null && !isEnding) heartbeats?.close(slot);
      crashed("the thread exited");
    });
    return {
      post: (message, moved) => worker.postMessage(message, movedForNode(moved)),
      terminate() {
        const end = () => void worker.terminate();
        const isWatched = heartbeats !== null && slot !== null && !hasExited && !isEnding;
        isOver = isEnding = true;
        if (isWatched) endWatched({ heartbeats, slot, end, hasExited: () => hasExited });
        else end();
      },
      setReferenced: (isReferenced) => isReferenced ? worker.ref() : worker.unref(),
    };
  };
}

/** The code of the platform for a thread whose heap was used up. */
const OUT_OF_MEMORY = "ERR_WORKER_OUT_OF_MEMORY";

/** An error of a thread that nothing there has handled. */
class ThreadError extends Error {
  override readonly name = "ThreadError";

  /** @param place The class and the stack of the error. */
  constructor(place: string) {
    super("A thread did not handle an error");
    this.stack = `${this.name}: ${this.message}\n${place}`;
  }
}

/** The class or code of an error. Its message is not used, since it can repeat the input. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
