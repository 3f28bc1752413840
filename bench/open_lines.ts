/**
 * Measures a gateway whose store has a million open lines of batches; writes `bench/RESULTS-open-lines.md`.
 *
 *     deno run -A bench/open_lines.ts     also --lines N, --batches N, and --out FILE
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { callAsHeavy, probeSmall, residentBytesOf, startBatchGateway } from "./batch_gateway.ts";
import { run, type Server } from "./child.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { figure, mebibytes, table } from "./markdown.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** A gateway without open lines, or with all of them. */
export interface OpenLinesFigures {
  readonly title: string;
  /** From the start of the process to its address. */
  readonly startMs: number;
  /** A minute after the start. */
  readonly residentBytes: number;
  /** Of the small requests of another account. */
  readonly small: Spread | null;
  readonly failures: number;
  /** Of reading a page of 100 batches. */
  readonly list: Spread | null;
}

/** The figures of the creates: one for each batch. */
export interface CreateFigures {
  readonly lines: number;
  readonly batches: number;
  /** Of the first and the last tenth of the creates, in the order of time. */
  readonly first: Spread | null;
  readonly last: Spread | null;
  readonly peakBytes: number;
  readonly small: Spread | null;
  readonly storeBytes: number;
}

const SETTLE_MS = 60_000;
const PROBE_SECONDS = 20;
const LISTS = 50;
const REPLY = '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":' +
  '{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":4}}';
const RESULTS = fileURLToPath(new URL("./RESULTS-open-lines.md", import.meta.url));

/** Measures before, while and after so many lines are created, and again after a start with all of them. */
export async function benchOpenLines(
  { folder, lines, batches }: { readonly folder: string; readonly lines: number; readonly batches: number },
  onProgress: (line: string) => void,
): Promise<{ readonly states: readonly OpenLinesFigures[]; readonly creates: CreateFigures }> {
  await using vendor = startVendor();
  const states: OpenLinesFigures[] = [];
  const look = async (title: string): Promise<Server> => {
    const startedAt = performance.now();
    const gateway = await startBatchGateway({ folder, vendorPort: vendor.port, models: ["small", "never"] });
    const startMs = performance.now() - startedAt;
    await sleep(SETTLE_MS);
    const residentBytes = await residentBytesOf(gateway);
    states.push({ title, startMs, residentBytes, ...await requestsAt(gateway) });
    onProgress(`${title}: start ${figure(startMs)} ms, ${mebibytes(residentBytes)} MiB`);
    return gateway;
  };
  let gateway = await look("without open lines");
  try {
    const creates = await createAll(gateway, { folder, lines, batches }, onProgress);
    await gateway.stop();
    gateway = await look("with all lines");
    return { states, creates };
  } finally {
    await gateway.stop();
  }
}

/** A vendor that answers small requests, and never those of lines. */
function startVendor() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (new URL(request.url).pathname.startsWith("/never")) await new Promise(() => {});
    return new Response(REPLY, { headers: { "content-type": "application/json" } });
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => Promise.race([server.shutdown(), sleep(1_000)]) };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function createAll(
  gateway: Server,
  { folder, lines, batches }: { readonly folder: string; readonly lines: number; readonly batches: number },
  onProgress: (line: string) => void,
): Promise<CreateFigures> {
  const file = await upload(gateway, join(folder, "lines.jsonl"), Math.ceil(lines / batches));
  const spansMs: number[] = [];
  let peakBytes = 0;
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      peakBytes = Math.max(peakBytes, await residentBytesOf(gateway));
      await sleep(250);
    }
  })();
  const probing = (async () => {
    const found: number[] = [];
    while (!isOver) found.push(...(await probeSmall(gateway, 4)).spansMs);
    return found;
  })();
  try {
    for (let batch = 0; batch < batches; batch++) {
      const startedAt = performance.now();
      await callAsHeavy(gateway, "POST", "/v1/batches", {
        input_file_id: file,
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
      });
      spansMs.push(performance.now() - startedAt);
      if ((batch + 1) % Math.ceil(batches / 10) === 0) onProgress(`${batch + 1} of ${batches} batches`);
    }
  } finally {
    isOver = true;
    await sampling;
  }
  const tenth = Math.ceil(batches / 10);
  const small = spreadOf(await probing);
  const { size } = await Deno.stat(join(folder, "store.db"));
  return {
    lines,
    batches,
    first: spreadOf(spansMs.slice(0, tenth)),
    last: spreadOf(spansMs.slice(-tenth)),
    peakBytes,
    small,
    storeBytes: size,
  };
}

async function requestsAt(gateway: Server): Promise<Pick<OpenLinesFigures, "small" | "failures" | "list">> {
  const { spansMs, failures } = await probeSmall(gateway, PROBE_SECONDS);
  const lists: number[] = [];
  for (let nth = 0; nth < LISTS; nth++) {
    const startedAt = performance.now();
    await callAsHeavy(gateway, "GET", "/v1/batches?limit=100");
    lists.push(performance.now() - startedAt);
  }
  return { small: spreadOf(spansMs), failures, list: spreadOf(lists) };
}

/** Stores a file of short lines, and returns its id. */
async function upload(gateway: Server, path: string, lines: number): Promise<string> {
  const messages = [{ role: "user", content: "Say hello" }];
  const line = (nth: number) =>
    JSON.stringify({
      custom_id: `line-${nth}`,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "bench/never", max_tokens: 16, messages },
    });
  await Deno.writeTextFile(path, Array.from({ length: lines }, (_, nth) => `${line(nth)}\n`).join(""));
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new Blob([await Deno.readFile(path)]), "lines.jsonl");
  return String((await callAsHeavy(gateway, "POST", "/v1/files", form)).id);
}

/** The report as Markdown. */
export function writeOpenLinesReport(
  machine: Machine,
  { states, creates }: { readonly states: readonly OpenLinesFigures[]; readonly creates: CreateFigures },
): string {
  const { lines, batches, first, last, peakBytes, small, storeBytes } = creates;
  const head = [
    "Gateway",
    "start ms",
    "MiB after a minute",
    "p50 ms",
    "p99 ms",
    "failed",
    "list p50 ms",
    "list p99 ms",
  ];
  const rows = states.map((state) => [
    state.title,
    figure(state.startMs),
    mebibytes(state.residentBytes),
    figure(state.small?.p50, 1),
    figure(state.small?.p99, 1),
    String(state.failures),
    figure(state.list?.p50, 1),
    figure(state.list?.p99, 1),
  ]);
  return [
    "# A store with many open lines",
    `Written by \`deno run -A bench/open_lines.ts\` on ${new Date().toISOString().slice(0, 10)}: ${machine.cpu}, ` +
    `${machine.cores} cores, ${mebibytes(machine.memoryBytes)} MiB, ${machine.system}, Deno ${machine.deno}. Other ` +
    "programs may have run on it, so compare the rows.",
    `One account creates ${figure(batches)} batches with ${
      figure(lines)
    } lines together, whose vendor never answers. ` +
    "The gateway is then started again with all of them. Another account sends 25 small requests a second.",
    table(head, rows),
    `A create of ${figure(lines / batches)} lines took ${
      figure(first?.p50)
    } ms in the first tenth of the batches and ` +
    `${figure(last?.p50)} ms in the last. Small requests took ${figure(small?.p50, 1)} ms meanwhile, 99 % of them at ` +
    `most ${figure(small?.p99, 1)}. The gateway had ${mebibytes(peakBytes)} MiB at most, and the store has ` +
    `${mebibytes(storeBytes)}.`,
    "",
  ].join("\n\n");
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: [...Deno.args],
    options: {
      lines: { type: "string", default: "1000000" },
      batches: { type: "string", default: "20" },
      out: { type: "string", default: RESULTS },
    },
  });
  const folder = await Deno.makeTempDir({ prefix: "switchyard-bench-open-lines-" });
  try {
    const options = { folder, lines: Number(values.lines), batches: Number(values.batches) };
    const figures = await benchOpenLines(options, (line) => console.error(line));
    await Deno.writeTextFile(values.out, writeOpenLinesReport(await describeMachine(folder), figures));
    await run([Deno.execPath(), "fmt", "--quiet", values.out], { timeoutMs: 30_000 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  Deno.exit(0); // requests that are never answered are open
}
