/**
 * The benchmark's load generator where no C compiler is installed: raw TCP. As a program it gets a file with its
 * {@linkcode LoadOptions} as JSON and prints a {@linkcode LoadResult} as JSON, as `native/generator.c` does.
 */
import { argument } from "./argument.ts";
import { Exchanger } from "./exchanger.ts";
import { encodeRequest, type LoadRequest, STREAM_MS } from "./load_request.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/**
 * When requests are sent. `closed`: each connection sends its next request after its complete reply. `streams`: the
 * same, but the connections start evenly over the length of a paced stream, and gaps are measured. `rate`: requests are
 * due at a constant rate, whether earlier replies have come or not.
 */
export type Load =
  | { readonly kind: "closed" }
  | { readonly kind: "streams" }
  | { readonly kind: "rate"; readonly perSecond: number };

/** The request and the amount of load. */
export interface LoadOptions {
  readonly request: LoadRequest;
  readonly load: Load;
  readonly connections: number;
  /** No request is started after it, except each connection's first in a closed loop; pending ones are finished. */
  readonly seconds: number;
}

/** The results. All times are in milliseconds. */
export interface LoadResult {
  /** Complete replies with status 200. */
  readonly replies: number;
  /** Other statuses, broken or refused connections, and replies that were not complete ten seconds after the load. */
  readonly failures: number;
  /** From the first request to the last reply. */
  readonly elapsedMs: number;
  /** From a request, or from when it was due if it was sent late, to the last byte of its reply. */
  readonly wholeMs: Spread | null;
  readonly gaps: Gaps;
  /** From the upstream's write of a chunk to its arrival; null except under a load of streams with both in C. */
  readonly oneWayMs: Spread | null;
}

/** The time between two arrivals of content on one stream; nothing except under a load of streams. */
export interface Gaps {
  readonly count: number;
  /** Gaps above {@linkcode LATE_GAP_MS}. */
  readonly late: number;
  readonly ms: Spread | null;
}

/** A gap above it is late: twice the pace. */
export const LATE_GAP_MS = 40;

const GRACE_SECONDS = 10;
const MAX_RECORDED_FAILURES = 20;
/** From the start of the last stream to the first gap that counts. */
const WARM_UP_MS = 1000;

/** Generates the load and returns the results, at the latest ten seconds after `seconds`. */
export async function runLoad({ request: ask, load, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const request = encodeRequest(ask);
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const gapsFrom = load.kind === "streams" ? startedAt + STREAM_MS + WARM_UP_MS : Infinity;
  const exchangers = Array.from({ length: connections }, () => new Exchanger(ask.port, request, gapsFrom));
  const whole: number[] = [];
  let failures = 0;
  const cutOff = setTimeout(() => exchangers.forEach((one) => one.close()), (seconds + GRACE_SECONDS) * 1000);

  async function exchange(exchanger: Exchanger, since: number): Promise<boolean> {
    const isReply = await exchanger.exchange().catch(() => false);
    if (isReply) whole.push(performance.now() - since);
    else failures++;
    return isReply;
  }

  async function askOverAndOver(exchanger: Exchanger, index: number): Promise<void> {
    if (load.kind === "streams") await pauseUntil(startedAt + STREAM_MS * index / connections);
    let failed = 0;
    do {
      if (!await exchange(exchanger, performance.now())) failed++;
    } while (performance.now() < until && failed < MAX_RECORDED_FAILURES);
  }

  /** All connections take requests from one schedule. */
  let number = 0;
  async function askWhenDue(exchanger: Exchanger, perSecond: number): Promise<void> {
    for (;;) {
      const dueAt = startedAt + number++ / perSecond * 1000;
      if (dueAt >= until || failures >= MAX_RECORDED_FAILURES) return;
      const isLate = performance.now() > dueAt;
      await pauseUntil(dueAt);
      // The generator's own delay in waking up is not the server's.
      await exchange(exchanger, isLate ? dueAt : performance.now());
    }
  }

  await Promise.all(
    exchangers.map((exchanger, index) =>
      load.kind === "rate" ? askWhenDue(exchanger, load.perSecond) : askOverAndOver(exchanger, index)
    ),
  );
  clearTimeout(cutOff);
  exchangers.forEach((exchanger) => exchanger.close());
  const gaps = exchangers.flatMap((one) => one.gapMs);
  return {
    replies: whole.length,
    failures,
    elapsedMs: performance.now() - startedAt,
    wholeMs: spreadOf(whole),
    gaps: { count: gaps.length, late: gaps.filter((gap) => gap > LATE_GAP_MS).length, ms: spreadOf(gaps) },
    oneWayMs: null, // the clocks of two processes of Deno begin at different times
  };
}

async function pauseUntil(at: number): Promise<void> {
  const ms = at - performance.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

if (import.meta.main) {
  const options = await Deno.readTextFile(argument(0, "a file with the order as JSON"));
  console.log(JSON.stringify(await runLoad(JSON.parse(options))));
}
