/**
 * Measures a small request beside a heavy one; writes `bench/RESULTS-neighbours.md`.
 *
 *     deno run -A bench/neighbours.ts     about three minutes; also --seconds N, and words that name cases
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { run, type Server, startServer } from "./child.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { figure, mebibytes, table } from "./markdown.ts";
import { HEAVY_CASES, type HeavyCase } from "./neighbour_cases.ts";
import type { ProbeOptions, ProbeResult } from "./neighbour_probe.ts";
import { processState } from "./process_state.ts";
import { type Spread, spreadOf } from "./statistics.ts";

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

const LIGHT_KEY = "sk-bench-light-000000000000";
const HEAVY_KEY = "sk-bench-heavy-000000000000";
const PER_SECOND = 25;
/** The target for the 99th percentile of a small request, in milliseconds. */
const TARGET_MS = 100;
const TURN_FILE = "longest-turn";
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
  const vendor = await startServer({
    name: "vendor",
    command: program("bench/neighbour_vendor.ts"),
    logPath: join(folder, "vendor.log"),
    core: null,
  });
  try {
    const isChosen = ({ name }: HeavyCase) => names.length === 0 || names.some((word) => name.includes(word));
    for (const heavy of [null, ...HEAVY_CASES.filter(isChosen)]) {
      const gateway = await startGateway(vendor.port, folder);
      try {
        figures.push(await measure(heavy, gateway, { seconds, turnFile: join(folder, TURN_FILE) }));
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
  { seconds, turnFile }: { readonly seconds: number; readonly turnFile: string },
): Promise<NeighbourFigures> {
  const body = heavy?.body() ?? "";
  await probe(gateway.port, 2); // warm-up
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
  const [{ spansMs, failures }] = await Promise.all([probe(gateway.port, seconds), asking()]);
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

async function send(heavy: HeavyCase, body: string | Uint8Array<ArrayBuffer>, port: number): Promise<number> {
  const leaving = new AbortController();
  const timer = heavy.disconnectsAfterMs === undefined
    ? null
    : setTimeout(() => leaving.abort(), heavy.disconnectsAfterMs);
  try {
    const response = await fetch(`http://127.0.0.1:${port}${heavy.path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${HEAVY_KEY}`,
        "content-type": heavy.contentType ?? "application/json",
        "msg-version": "2023-06-01",
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

async function probe(port: number, seconds: number): Promise<ProbeResult> {
  const options: ProbeOptions = { port, key: LIGHT_KEY, model: "bench/small", seconds, perSecond: PER_SECOND };
  const said = await run([...program("bench/neighbour_probe.ts"), JSON.stringify(options)], { timeoutMs: 300_000 });
  return JSON.parse(said) as ProbeResult;
}

async function startGateway(vendorPort: number, folder: string): Promise<Server> {
  const path = join(folder, "neighbours.json");
  const vendor = (kind: string, mode: string) => ({
    kind,
    base_url: `http://127.0.0.1:${vendorPort}/${mode}`,
    api_key: "bench-vendor-key",
  });
  const text = (name: string, provider = name) => ({
    id: `bench/${name}`,
    pricing: { prompt: "0.00000001", completion: "0.00000001" },
    serves: [{ provider }],
  });
  const picture = { pricing: { per_image: "0.0001" } };
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      server: { host: "127.0.0.1", port: 0, isolates: 1, shutdown_grace: 1 },
      store: "kv::memory:",
      files: join(folder, "files"),
      accounts: [
        { id: "light", balance: "1000000", keys: [LIGHT_KEY] },
        { id: "heavy", balance: "1000000", keys: [HEAVY_KEY] },
      ],
      providers: {
        small: vendor("openai", "small"),
        messages: vendor("anthropic", "small"),
        huge: vendor("openai", "huge"),
        endless: vendor("openai", "endless"),
        frames: vendor("openai", "frames"),
        painter: vendor("openai", "images"),
        ark: vendor("ark", "images"),
      },
      models: [
        ...["small", "messages", "huge", "endless", "frames"].map((name) => text(name)),
        { id: "bench/painter", image: { edits: true }, serves: [{ provider: "painter" }], ...picture },
        { id: "bench/seer", image: { series: "reference" }, serves: [{ provider: "ark" }], ...picture },
        {
          id: "bench/video",
          video: { modes: ["text2video", "mixref2video"], price_per_second: { default: "0.0001" } },
          serves: [{ provider: "ark" }],
        },
      ],
      limits: { memory: "4GB" },
      logs: { level: "warn" },
    }),
  );
  const main = fileURLToPath(new URL("./watched_gateway.ts", import.meta.url));
  return await startServer({
    name: "gateway",
    command: [Deno.execPath(), "run", "--quiet", "--no-check", "-A", main, path, join(folder, TURN_FILE)],
    logPath: join(folder, "gateway.log"),
    core: null,
  });
}

function program(path: string): readonly string[] {
  return [Deno.execPath(), "run", "--quiet", "--no-check", "-A", fileURLToPath(new URL(`../${path}`, import.meta.url))];
}

/** The report as Markdown. */
export function writeNeighbourReport(machine: Machine, figures: readonly NeighbourFigures[], seconds: number): string {
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
    table(head, rows),
    "",
  ].join("\n\n");
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
    const report = writeNeighbourReport(await describeMachine(folder), figures, seconds);
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
