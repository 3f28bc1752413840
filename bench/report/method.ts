import { CHUNKS, PACE_MS } from "../load_request.ts";
import type { Outcome } from "./outcome.ts";

/** How the figures came about, one paragraph each. */
export function methodOf({ rounds, seconds, cores, generators: { closed, timed }, nativeFault }: Outcome): string[] {
  const upstream = nativeFault === null ? "bench/native/upstream.c" : "bench/upstream.ts";
  const fallback = nativeFault === null
    ? ""
    : ` **The upstream and the generator in C were not used: ${nativeFault}. With those in TypeScript, the limits ` +
      "of latency and of paced streams are rather the generator's.**";
  return [
    `All contenders are measured in one run, in turn, in another order in each round: ${rounds} × ${seconds} s under ` +
    "each load, at most three rounds under those without a mark. A figure is the median of its rounds, with the smallest and " +
    "the largest in parentheses; a ratio or a difference is the median of those within each round. " +
    cores.description,
    `Upstream: ${upstream}, fixed bytes. Closed loops: ${closed}. Constant rates and paced streams: ${timed}. The ` +
    "column without a proxy shows the limit of upstream and generator: where a contender comes near it, the limit was " +
    `measured.${fallback}`,
    "A reply to a request is 1 KB of JSON, a stream of " +
    `${CHUNKS.burst} chunks in one write, or a stream of ${CHUNKS.paced} chunks, one every ${PACE_MS} ms. Requests at a ` +
    "constant rate are due whether earlier replies have come or not; one that is sent late counts from when it was " +
    "due. Paced streams start evenly over the length of a stream. A number of them at once is sustained when fewer " +
    "than 1 gap in 1,000 is longer than 40 ms and no request fails; each turn finds the largest by bisection. One-way " +
    "time is that from the upstream's write of a chunk to its arrival.",
    "Switchyard runs as in production: store on disk, key checks, charges, and log lines to a file. The bare Deno " +
    "proxy is `Deno.serve`, `fetch` and `new Response(upstream.body)`; the bare Node proxy is `node:http` with a " +
    "keep-alive agent and `pipe`.",
  ];
}
