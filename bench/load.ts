/**
 * The benchmark's own load generator: raw TCP, one request after another on each connection. As a program it takes its
 * {@linkcode LoadOptions} as JSON in its one argument and prints a {@linkcode LoadResult} as JSON.
 */
import { argument } from "./argument.ts";
import { type Ask, PACE_MS, writeAsk } from "./ask.ts";
import { Exchanger } from "./exchanger.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** What to send, and how much of it. */
export interface LoadOptions {
  readonly ask: Ask;
  /** Each sends its next request when it has its whole reply. */
  readonly connections: number;
  /** No request is begun after it but each connection's first; those under way are finished. */
  readonly seconds: number;
}

/** What came of it. All spans in milliseconds. */
export interface LoadResult {
  /** Whole replies with status 200. */
  readonly replies: number;
  /** Other statuses, and broken or refused connections. */
  readonly failures: number;
  /** From the first request to the last reply. */
  readonly elapsedMs: number;
  /** From a request to its reply's last byte. */
  readonly wholeMs: Spread | null;
  /** From a request to the first event of its stream; null when the generator does not look into replies. */
  readonly firstMs: Spread | null;
  /** Between two arrivals of events on one stream; null likewise. */
  readonly gapMs: Spread | null;
}

const GRACE_SECONDS = 10;
const MAX_RECORDED_FAILURES = 20;

/** Drives the load and gives what came of it, at the latest ten seconds after `seconds`. */
export async function drive({ ask, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const request = writeAsk(ask);
  const exchangers = Array.from({ length: connections }, () => new Exchanger(ask.port, request));
  const whole: number[] = [];
  let failures = 0;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const cutOff = setTimeout(() => exchangers.forEach((one) => one.close()), (seconds + GRACE_SECONDS) * 1000);

  async function askOverAndOver(exchanger: Exchanger, index: number): Promise<void> {
    // Paced streams that began together would also be written together.
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

if (import.meta.main) console.log(JSON.stringify(await drive(JSON.parse(argument(0, "the order as JSON")))));
