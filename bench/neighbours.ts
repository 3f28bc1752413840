/**
 * Measures a small request beside a heavy one; writes `bench/RESULTS-neighbours.md`.
 *
 *     deno run -A bench/neighbours.ts     about eight minutes; also --seconds N, and words that name cases
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { program, run, type Server } from "./child.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { figure, mebibytes, table } from "./markdown.ts";
import { HEAVY_CASES, type HeavyCase } from "./neighbour_cases.ts";
import {
  HEAVY_KEY,
  LIGHT_KEY,
  OPERATOR_KEY,
  startNeighbourGateway,
  startNeighbourVendor,
  TURN_FILE,
} from "./neighbour_gateway.ts";
import type { ProbeOptions, ProbeResult } from "./neighbour_probe.ts";
import { processState } from "./process_state.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import { measureUnreadCallers, UNREAD_CALLERS, type UnreadFigures } from "./unread_callers.ts";

/** The times of a small request beside one heavy case. */
export interface NeighbourFigures {
  readonly name: string;
  /** Milliseconds of small requests. */
  readonly small: Spread | null;
  readonly worstMs: number;
  /** The longest turn of the main thread, in milliseconds of processor time; null where it cannot be measured. */
  readonly turnMs: number | null;
  readonly failures: number;
  /** How many heavy requests were answered in that time, and the last one's status. */
  readonly heavy: number;
  readonly status: number;
  /** The gateway's peak memory since its start. */
  readonly peakBytes: number;
}

const PER_SECOND = 25;
const SEARCHES_PER_SECOND = 4;
const SEARCH = "/admin/v1/requests?q=some%20text";
/** The rows of the log that is searched. */
const LOGGED_REQUESTS = 3_000;
/** The target for the 99th percentile of a small request, in milliseconds. */
const TARGET_MS = 100;
const RESULTS = fileURLToPath(new URL("./RESULTS-neighbours.md", import.meta.url));

/** Measures each case beside a restarted gateway, for that many seconds. */
export async function benchNeighbours(
  { folder, seconds, names = [] }: {
    readonly folder: string;
    readonly seconds: number;
    /** Only cases whose name contains one of these. Default all. */
    readonly names?: readonly string[];
  },
  onProgress: (line: string) => void,
): Promise<NeighbourFigures[]> {
  const figures: NeighbourFigures[] = [];
  const vendor = await startNeighbourVendor(folder);
  try {
    const isChosen = ({ name }: HeavyCase) => names.length === 0 || names.some((word) => name.includes(word));
    for (const heavy of [null, ...HEAVY_CASES.filter(isChosen)]) {
      const gateway = await startNeighbourGateway(vendor.port, folder);
      try {
        const options = { seconds, vendorPort: vendor.port, turnFile: join(folder, TURN_FILE) };
        figures.push(await measure(heavy, gateway, options));
      } finally {
        await gateway.stop();
      }
      const { name, small, worstMs, turnMs, heavy: count, status } = figures.at(-1)!;
      onProgress(
        `${name}: p99 ${figure(small?.p99, 1)} ms, worst ${figure(worstMs, 1)} ms, turn ${
          figure(turnMs, 1)
        } ms, ${count} heavy (${status})`,
      );
    }
  } finally {
    await vendor.stop();
  }
  return figures;
}

async function measure(
  heavy: HeavyCase | null,
  gateway: Server,
  { seconds, vendorPort, turnFile }: {
    readonly seconds: number;
    readonly vendorPort: number;
    readonly turnFile: string;
  },
): Promise<NeighbourFigures> {
  const body = heavy?.body(vendorPort) ?? null;
  const measured = heavy?.beside === "search" ? probeSearches : probe;
  await probe(gateway.port, 2); // warm-up
  if (heavy?.beside === "search") await fillLog(gateway.port);
  await gateway.writeLine("begin anew");
  const until = performance.now() + (seconds + 0.5) * 1000;
  let [count, status] = [0, 0];
  const asking = async () => {
    while (heavy !== null && performance.now() < until) {
      status = await send(heavy, body, gateway.port);
      count++;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const askers = Array.from({ length: heavy?.parallel ?? 1 }, asking);
  const [{ spansMs, failures }] = await Promise.all([measured(gateway.port, seconds), ...askers]);
  return {
    name: heavy?.name ?? "nothing",
    small: spreadOf(spansMs),
    worstMs: Math.max(...spansMs),
    turnMs: await Deno.readTextFile(turnFile).then(Number, () => null),
    failures,
    heavy: count,
    status,
    peakBytes: (await processState(gateway.pid))?.peakBytes ?? 0,
  };
}

async function send(heavy: HeavyCase, body: string | Uint8Array<ArrayBuffer> | null, port: number): Promise<number> {
  const leaving = new AbortController();
  const timer = heavy.disconnectsAfterMs === undefined
    ? null
    : setTimeout(() => leaving.abort(), heavy.disconnectsAfterMs);
  try {
    const response = await fetch(`http://127.0.0.1:${port}${heavy.path}`, {
      method: heavy.method ?? "POST",
      headers: {
        authorization: `Bearer ${HEAVY_KEY}`,
        "content-type": heavy.contentType ?? "application/json",
        "msg-version": "2023-06-01",
        ...heavy.headers,
        ...heavy.isKeyed && { "idempotency-key": crypto.randomUUID() },
      },
      body,
      signal: leaving.signal,
    });
    if (response.status >= 400 && Deno.env.has("BENCH_SHOW_REFUSALS")) console.error(await response.text());
    else for await (const _ of response.body ?? []); // read and dropped
    return response.status;
  } catch {
    return 0; // disconnected or cut off
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

/** Sends small requests, so that the log of requests has rows. */
async function fillLog(port: number): Promise<void> {
  for (let sent = 0; sent < LOGGED_REQUESTS; sent += 100) {
    const request = { path: "/v1/chat/completions", name: "", body: () => null };
    const body = '{"model":"bench/small","messages":[{"role":"user","content":"x"}]}';
    await Promise.all(Array.from({ length: 100 }, () => send(request, body, port)));
  }
}

function probe(port: number, seconds: number): Promise<ProbeResult> {
  return probed({ port, key: LIGHT_KEY, model: "bench/small", seconds, perSecond: PER_SECOND });
}

function probeSearches(port: number, seconds: number): Promise<ProbeResult> {
  return probed({ port, key: OPERATOR_KEY, model: "", seconds, perSecond: SEARCHES_PER_SECOND, readPath: SEARCH });
}

async function probed(options: ProbeOptions): Promise<ProbeResult> {
  const said = await run([...program("bench/neighbour_probe.ts"), JSON.stringify(options)], { timeoutMs: 300_000 });
  return JSON.parse(said) as ProbeResult;
}

/** Measures callers that do not read, at a gateway of their own. */
async function benchUnreadCallers(folder: string): Promise<UnreadFigures> {
  const vendor = await startNeighbourVendor(folder);
  try {
    const gateway = await startNeighbourGateway(vendor.port, folder);
    try {
      return await measureUnreadCallers(gateway, UNREAD_CALLERS);
    } finally {
      await gateway.stop();
    }
  } finally {
    await vendor.stop();
  }
}

/** The report as Markdown. */
export function writeNeighbourReport(
  machine: Machine,
  { figures, unread, seconds }: {
    readonly figures: readonly NeighbourFigures[];
    /** Null if it was not measured. */
    readonly unread: UnreadFigures | null;
    readonly seconds: number;
  },
): string {
  const rows = figures.map(({ name, small, worstMs, turnMs, failures, heavy, status, peakBytes }) => [
    name,
    figure(small?.p50, 1),
    figure(small?.p99, 1),
    figure(worstMs, 1),
    figure(turnMs, 1),
    failures === 0 ? "0" : `**${failures}**`,
    `${heavy} (${status === 0 ? "disconnected" : status})`,
    mebibytes(peakBytes),
    (small?.p99 ?? Infinity) <= TARGET_MS ? "yes" : "**no**",
  ]);
  const head = [
    "Beside",
    "p50 ms",
    "p99 ms",
    "worst ms",
    "longest turn ms",
    "failed",
    "heavy",
    "peak MiB",
    `p99 ≤ ${TARGET_MS} ms`,
  ];
  return [
    "# Neighbours",
    `Written by \`deno run -A bench/neighbours.ts\` on ${new Date().toISOString().slice(0, 10)}: ${machine.cpu}, ` +
    `${machine.cores} cores, ${mebibytes(machine.memoryBytes)} MiB, ${machine.system}, Deno ${machine.deno}.`,
    `One account sends ${PER_SECOND} small JSON requests a second for ${seconds} seconds, independent of earlier ` +
    "responses. Another account sends one heavy request after another to the same gateway. Vendor, both callers " +
    "and the gateway share the machine.",
    `Searches of an operator are ${SEARCHES_PER_SECOND} a second over ${LOGGED_REQUESTS} logged requests.`,
    table(head, rows),
    ...unread === null ? [] : unreadSection(unread),
    "",
  ].join("\n\n");
}

function unreadSection({ callers, beforeBytes, afterBytes, countedBytes }: UnreadFigures): string[] {
  return [
    "## Callers that do not read",
    "Each has a stream of a vendor that sends as fast as it is read.",
    table(
      ["callers", "MiB before", "MiB after", "MiB that `limits.memory` counts"],
      [[String(callers), mebibytes(beforeBytes), mebibytes(afterBytes), mebibytes(countedBytes)]],
    ),
  ];
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    args: [...Deno.args],
    allowPositionals: true,
    options: { seconds: { type: "string", default: "6" }, out: { type: "string" } },
  });
  const folder = await Deno.makeTempDir({ prefix: "switchyard-bench-neighbours-" });
  const seconds = Number(values.seconds);
  try {
    const figures = await benchNeighbours({ folder, seconds, names: positionals }, (line) => console.error(line));
    const isWhole = positionals.length === 0 || positionals.some((word) => "callers that do not read".includes(word));
    const unread = isWhole ? await benchUnreadCallers(folder) : null;
    const report = writeNeighbourReport(await describeMachine(folder), { figures, unread, seconds });
    if (positionals.length > 0) console.log(report);
    else {
      const out = values.out ?? RESULTS;
      await Deno.writeTextFile(out, report);
      await run([Deno.execPath(), "fmt", "--quiet", out], { timeoutMs: 30_000 });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
