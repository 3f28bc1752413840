/**
 * The benchmark's own load generator: raw TCP, one request after another on each connection. As a program it gets its
 * {@linkcode LoadOptions} as a JSON argument and prints a {@linkcode LoadResult} as JSON.
 */
import { argument } from "./argument.ts";
import { encodeRequest, type LoadRequest, PACE_MS } from "./load_request.ts";
import { Exchanger } from "./exchanger.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** The request and the amount of load. */
export interface LoadOptions {
  readonly request: LoadRequest;
  /** Connections; each sends its next request after its complete reply. */
  readonly connections: number;
  /** No request is started after it, except each connection's first; pending ones are finished. */
  readonly seconds: number;
}

/** The results. All times are in milliseconds. */
export interface LoadResult {
  /** Complete replies with status 200. */
  readonly replies: number;
  /** Other statuses, and broken or refused connections. */
  readonly failures: number;
  /** From the first request to the last reply. */
  readonly elapsedMs: number;
  /** From a request to the last byte of its reply. */
  readonly wholeMs: Spread | null;
  /** From a request to the first event of its stream; null when the generator does not parse replies. */
  readonly firstMs: Spread | null;
  /** Between two arrivals of events on one stream; null when the generator does not parse replies. */
  readonly gapMs: Spread | null;
}

const GRACE_SECONDS = 10;
const MAX_RECORDED_FAILURES = 20;

/** Generates the load and returns the results, at the latest ten seconds after `seconds`. */
export async function runLoad({ request: ask, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const request = encodeRequest(ask);
  const exchangers = Array.from({ length: connections }, () => new Exchanger(ask.port, request));
  const whole: number[] = [];
  let failures = 0;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const cutOff = setTimeout(() => exchangers.forEach((one) => one.close()), (seconds + GRACE_SECONDS) * 1000);

  async function askOverAndOver(exchanger: Exchanger, index: number): Promise<void> {
    // Paced streams that start together would also be written together.
    await new Promise((resolve) => setTimeout(resolve, index % PACE_MS));
    let failed = 0;
    do {
      const sentAt = performance.now();
      const isReply = await exchanger.exchange().catch(() => false);
      if (isReply) whole.push(performance.now() - sentAt);
      else failed++, failures++;
    } while (performance.now() < until && failed < MAX_RECORDED_FAILURES);
    exchanger.close();
  }

  await Promise.all(exchangers.map(askOverAndOver));
  clearTimeout(cutOff);
  return {
    replies: whole.length,
    failures,
    elapsedMs: performance.now() - startedAt,
    wholeMs: spreadOf(whole),
    firstMs: spreadOf(exchangers.flatMap((one) => one.firstMs)),
    gapMs: spreadOf(exchangers.flatMap((one) => one.gapMs)),
  };
}

if (import.meta.main) console.log(JSON.stringify(await runLoad(JSON.parse(argument(0, "the order as JSON")))));
