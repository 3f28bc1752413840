import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import { AcceptPause } from "./accept_pause.ts";
import { HEARTBEAT_MS, Heartbeats, type MarkedStep, OwnMark } from "./heartbeats.ts";

/** The heartbeats of the process that this thread takes part in; null while there is no watch. */
let heartbeats: Heartbeats | null = null;
let mark = new OwnMark();
let acceptPause: AcceptPause | null = null;

/** By which this thread and others pause each other; null while there is no watch. */
export function ownAcceptPause(): AcceptPause | null {
  return acceptPause;
}

/** The heartbeats of the process; null while there is no watch. */
export function processHeartbeats(): Heartbeats | null {
  return heartbeats;
}

/**
 * Marks the work that this thread begins. It costs some stores to memory.
 *
 * @param id The id of the request or the job. What exceeds 48 characters is not kept.
 * @param detail The provider, or the kind of the job. What exceeds 48 characters is not kept.
 */
export function markWork(step: MarkedStep, id = "", detail = ""): void {
  mark.write(step, id, detail);
}

/** Where a new thread finds its slot. */
const HEARTBEAT_KEY = "switchyard.heartbeat";

interface OwnSlot {
  readonly buffer: SharedArrayBuffer;
  readonly slot: number;
}

/**
 * Lets this thread beat, the main thread of a process, and all threads that are started from now on.
 *
 * @returns A function that ends it.
 */
export function startMainHeartbeat(): () => void {
  const own = new Heartbeats();
  const stop = beatIn(own, own.open("main") ?? 0);
  return () => {
    stop();
    heartbeats = acceptPause = null;
    mark = new OwnMark();
  };
}

/** Lets this thread beat, if the process has a watch. Called once by each module that a thread starts with. */
export function startThreadHeartbeat(): void {
  const own = getEnvironmentData(HEARTBEAT_KEY) as OwnSlot | undefined;
  if (own !== undefined) beatIn(new Heartbeats(own.buffer), own.slot);
}

/**
 * Calls a function that starts a thread. The thread finds its slot with {@linkcode startThreadHeartbeat}.
 *
 * @param slot Null if the thread is not watched.
 */
export function withSlot<T>(slot: number | null, start: () => T): T {
  const before = getEnvironmentData(HEARTBEAT_KEY);
  const own = heartbeats === null || slot === null ? undefined : { buffer: heartbeats.buffer, slot };
  setEnvironmentData(HEARTBEAT_KEY, own satisfies OwnSlot | undefined);
  try {
    return start();
  } finally {
    setEnvironmentData(HEARTBEAT_KEY, before);
  }
}

function beatIn(own: Heartbeats, slot: number): () => void {
  heartbeats = own;
  mark = own.ownMark(slot);
  acceptPause = new AcceptPause(own.pauseMemory(slot));
  own.beat(slot);
  const timer = setInterval(() => own.beat(slot), HEARTBEAT_MS);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}
