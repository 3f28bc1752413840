/**
 * Measures a batch of 50,000 lines, and small requests beside it; writes `bench/RESULTS-batches.md`.
 *
 *     deno run -A bench/batches.ts     also --lines N, --bytes N of a line, and --out FILE
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import {
  BALANCE,
  callAsHeavy,
  MAX_MS,
  probeSmall,
  residentBytesOf,
  SMALL_PER_SECOND,
  startBatchGateway,
  TOKEN_PRICE,
} from "./batch_gateway.ts";
import { run, type Server } from "./child.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { figure, mebibytes, table } from "./markdown.ts";
import { HEAVY_KEY, startNeighbourVendor } from "./neighbour_gateway.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** The stages of a batch, each beside the same small requests. */
export type BatchStage = "nothing" | "upload of the file" | "create" | "lines" | "download of the replies";

/** The figures of one stage. */
export interface StageFigures {
  readonly stage: BatchStage;
  /** Null for a stage that was over before a small request ended. */
  readonly small: Spread | null;
  readonly worstMs: number;
  readonly failures: number;
  readonly seconds: number;
  /** The highest memory of the gateway at a sample. */
  readonly peakBytes: number;
}

/** The figures of a batch. */
export interface BatchFigures {
  readonly lines: number;
  readonly fileBytes: number;
  readonly idleBytes: number;
  readonly stages: readonly StageFigures[];
  readonly completed: number;
  /** What the account paid, in USD, and what the lines cost. */
  readonly paid: number;
  readonly expected: number;
}

/** Small requests are sent in rounds of so many seconds until a stage is over. */
const ROUND_SECONDS = 4;
const SAMPLE_MS = 250;
const LOOK_MS = 1_000;
/** Of the vendor's reply. */
const TOKENS = { prompt: 12, completion: 4 };
const TARGET_MS = 100;
const TARGET_MIB = 64;
const RESULTS = fileURLToPath(new URL("./RESULTS-batches.md", import.meta.url));

/** Runs a batch of so many lines of about that many bytes. */
export async function benchBatches(
  { folder, lines, bytes }: { readonly folder: string; readonly lines: number; readonly bytes: number },
  onProgress: (line: string) => void,
): Promise<BatchFigures> {
  const vendor = await startNeighbourVendor(folder);
  try {
    const gateway = await startBatchGateway({ folder, vendorPort: vendor.port, models: ["small"] });
    try {
      return await measure(gateway, { lines, bytes, folder }, onProgress);
    } finally {
      await gateway.stop();
    }
  } finally {
    await vendor.stop();
  }
}

async function measure(
  gateway: Server,
  { lines, bytes, folder }: { readonly lines: number; readonly bytes: number; readonly folder: string },
  onProgress: (line: string) => void,
): Promise<BatchFigures> {
  const file = join(folder, "lines.jsonl");
  const fileBytes = await writeLines(file, lines, bytes);
  await probeSmall(gateway, 2); // warm-up
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  const idleBytes = await residentBytesOf(gateway);
  const stages: StageFigures[] = [];
  const stage = async <T>(name: BatchStage, work: () => Promise<T>): Promise<T> => {
    const [figures, result] = await beside(name, gateway, work);
    stages.push(figures);
    const { small, peakBytes, seconds } = figures;
    onProgress(`${name}: ${figure(seconds, 1)} s, p99 ${figure(small?.p99, 1)} ms, peak ${mebibytes(peakBytes)} MiB`);
    return result;
  };
  await stage("nothing", () => new Promise((resolve) => setTimeout(resolve, 2 * ROUND_SECONDS * 1_000)));
  const stored = await stage("upload of the file", async () => {
    // A part of a form that is a file is read while it is sent, without a copy in memory.
    const said = await run([
      "curl",
      "--silent",
      "--show-error",
      "--fail-with-body",
      `http://127.0.0.1:${gateway.port}/v1/files`,
      "--header",
      `Authorization: Bearer ${HEAVY_KEY}`,
      "--form",
      "purpose=batch",
      "--form",
      `file=@${file};type=application/jsonl`,
    ], { timeoutMs: MAX_MS });
    return JSON.parse(said) as { readonly id: string };
  });
  const created = await stage("create", async () =>
    await callAsHeavy(gateway, "POST", "/v1/batches", {
      input_file_id: stored.id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    }));
  const batch = await stage("lines", async () => await ended(gateway, String(created.id)));
  const { completed } = batch.request_counts as { readonly completed: number };
  await stage("download of the replies", async () => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/files/${batch.output_file_id}/content`, {
      headers: { authorization: `Bearer ${HEAVY_KEY}` },
    });
    for await (const _ of response.body ?? []); // read and dropped
  });
  const { balance, held } = await callAsHeavy(gateway, "GET", "/v1/credits");
  return {
    lines,
    fileBytes,
    idleBytes,
    stages,
    completed,
    paid: BALANCE - Number(balance) - Number(held),
    expected: completed * (TOKENS.prompt + TOKENS.completion) * Number(TOKEN_PRICE),
  };
}

async function ended(gateway: Server, id: string): Promise<Readonly<Record<string, unknown>>> {
  for (let waitedMs = 0; waitedMs < MAX_MS; waitedMs += LOOK_MS) {
    const batch = await callAsHeavy(gateway, "GET", `/v1/batches/${id}`);
    if (["completed", "failed", "cancelled", "expired"].includes(String(batch.status))) return batch;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`${id} has not ended within ${MAX_MS / 1_000} s`);
}

/** Sends small requests until the work is done, and samples the memory of the gateway. */
async function beside<T>(stage: BatchStage, gateway: Server, work: () => Promise<T>): Promise<[StageFigures, T]> {
  const startedAt = performance.now();
  let isOver = false;
  let peakBytes = 0;
  const working = work().finally(() => isOver = true);
  const sampling = (async () => {
    while (!isOver) {
      peakBytes = Math.max(peakBytes, await residentBytesOf(gateway));
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
  })();
  const spansMs: number[] = [];
  let failures = 0;
  while (!isOver) {
    const part = await probeSmall(gateway, ROUND_SECONDS);
    spansMs.push(...part.spansMs);
    failures += part.failures;
  }
  const result = await working;
  await sampling;
  const seconds = (performance.now() - startedAt) / 1_000;
  return [{ stage, small: spreadOf(spansMs), worstMs: Math.max(...spansMs), failures, seconds, peakBytes }, result];
}

/** Writes the lines. Returns the size of the file. */
async function writeLines(path: string, lines: number, bytes: number): Promise<number> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  const encoder = new TextEncoder();
  let written = 0;
  for (let line = 0; line < lines; line++) {
    const body = { model: "bench/small", max_tokens: 16, messages: [{ role: "user", content: text(bytes - 200) }] };
    const request = { custom_id: `line-${line}`, method: "POST", url: "/v1/chat/completions", body };
    written += await file.write(encoder.encode(`${JSON.stringify(request)}\n`));
  }
  return written;
}

function text(length: number): string {
  return "A lighthouse stands on a rock by the sea. ".repeat(Math.ceil(Math.max(length, 1) / 42)).slice(0, length);
}

/** The report as Markdown. */
export function writeBatchReport(machine: Machine, figures: BatchFigures): string {
  const { lines, fileBytes, idleBytes, stages, completed, paid, expected } = figures;
  const rows = stages.map(({ stage, small, worstMs, failures, seconds, peakBytes }) => [
    stage,
    figure(seconds, 1),
    figure(small?.p50, 1),
    figure(small?.p99, 1),
    figure(worstMs, 1),
    failures === 0 ? "0" : `**${failures}**`,
    mebibytes(peakBytes),
    mebibytes(peakBytes - idleBytes),
    (small?.p99 ?? Infinity) <= TARGET_MS ? "yes" : "**no**",
  ]);
  const running = stages.find(({ stage }) => stage === "lines");
  const head = [
    "Stage",
    "seconds",
    "p50 ms",
    "p99 ms",
    "worst ms",
    "failed",
    "peak MiB",
    "above idle MiB",
    `p99 ≤ ${TARGET_MS} ms`,
  ];
  return [
    "# A batch of many lines",
    `Written by \`deno run -A bench/batches.ts\` on ${new Date().toISOString().slice(0, 10)}: ${machine.cpu}, ` +
    `${machine.cores} cores, ${mebibytes(machine.memoryBytes)} MiB, ${machine.system}, Deno ${machine.deno}.`,
    `One account uploads ${figure(lines)} lines of ${mebibytes(fileBytes)} MiB together and runs them as a batch. ` +
    `Another account sends ${SMALL_PER_SECOND} small JSON requests a second meanwhile. Vendor, both callers and the ` +
    "gateway share the machine. The gateway has its defaults, with the store in a file.",
    `Idle memory is ${mebibytes(idleBytes)} MiB. The mark is ${TARGET_MIB} MiB above it, and 99 % of the small ` +
    `requests within ${TARGET_MS} ms.`,
    table(head, rows),
    `${figure(completed)} lines were completed` +
    (running === undefined ? "" : `, ${figure(completed / running.seconds)} a second`) +
    `. They cost ${expected.toFixed(6)} USD, and the account paid ${paid.toFixed(6)}.`,
    "",
  ].join("\n\n");
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: [...Deno.args],
    options: {
      lines: { type: "string", default: "50000" },
      bytes: { type: "string", default: "4200" },
      out: { type: "string", default: RESULTS },
    },
  });
  const folder = await Deno.makeTempDir({ prefix: "switchyard-bench-batches-" });
  try {
    const options = { folder, lines: Number(values.lines), bytes: Number(values.bytes) };
    const figures = await benchBatches(options, (line) => console.error(line));
    await Deno.writeTextFile(values.out, writeBatchReport(await describeMachine(folder), figures));
    await run([Deno.execPath(), "fmt", "--quiet", values.out], { timeoutMs: 30_000 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
