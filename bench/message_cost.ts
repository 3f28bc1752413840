import { cpuUsage } from "node:process";
import type { FromServing, ToServing } from "../src/threads/serving/messages.ts";
import { Outbox } from "../src/threads/serving/outbox.ts";
import { readMessages } from "../src/threads/serving/wire.ts";
import { threadStarter } from "../src/platform/workers/worker_thread.ts";

/** The cost of a round trip between a thread that accepts connections and the main thread. */
export interface RoundTrip {
  /** The messages in a batch, each way. */
  readonly messages: number;
  /** Processor microseconds of both threads, of user and kernel. */
  readonly cpuUs: number;
}

/** How many calls of one turn of the event loop travel together. */
const SIZES = [1, 8, 64];
const HEAP_MEGABYTES = 256;
/** V8 compiles the code of both threads meanwhile. */
const WARMING_MS = 1_000;

/**
 * Measures round trips through the outboxes and the format of isolates: a thread sends calls that reserve money, and
 * the main thread answers each. The sum of both threads is measured, so nothing else may run in this process.
 */
export async function measureRoundTrips(durationMs: number): Promise<RoundTrip[]> {
  const trips: RoundTrip[] = [];
  for (const messages of SIZES) trips.push({ messages, cpuUs: await roundTripUs(messages, durationMs) });
  return trips;
}

/** What each further message of a batch adds, in microseconds: the slope between the smallest and the largest. */
export function addedMessageUs(trips: readonly RoundTrip[]): number | null {
  const [first, last] = [trips[0], trips.at(-1)];
  if (first === undefined || last === undefined || first.messages === last.messages) return null;
  return (last.cpuUs - first.cpuUs) / (2 * (last.messages - first.messages));
}

async function roundTripUs(messages: number, durationMs: number): Promise<number> {
  let trips = 0;
  const crashed = Promise.withResolvers<never>();
  const start = threadStarter({
    kind: "isolate",
    entry: new URL("./message_thread.ts", import.meta.url),
    heapMegabytes: HEAP_MEGABYTES,
    data: { messages },
  });
  const thread = start({
    onMessage(posted) {
      for (const message of readMessages<FromServing>(posted)) answer(message);
      trips++;
    },
    onCrash: (reason) => crashed.reject(new Error(`Cannot measure messages: the thread ended: ${reason}`)),
  });
  const outbox = new Outbox<ToServing>((batch, transfer) => thread.post(batch, transfer));
  const answer = (message: FromServing) => {
    if (message.type !== "call") return;
    outbox.post({ type: "result", call: message.call, value: { admission: message.call, rates: null } });
  };
  try {
    const pass = (ms: number) => Promise.race([pause(ms), crashed.promise]);
    // The thread starts late, and has no turn for a while, on a busy machine.
    do await pass(WARMING_MS); while (trips === 0);
    const [before, tripsBefore] = [cpuUsage(), trips];
    do await pass(durationMs); while (trips === tripsBefore);
    const { user, system } = cpuUsage(before);
    return (user + system) / (trips - tripsBefore);
  } finally {
    thread.terminate();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
