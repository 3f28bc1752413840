/**
 * Compares the gateway's HTTP client with undici, `node:http` and `fetch` in one run: processor time, and the contract
 * with hostile vendors. Writes `bench/RESULTS-clients.md`.
 *
 *     deno run -A --lock=tests/deno.lock bench/clients.ts [--seconds N] [--rounds N]
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHUNKS, type Mode, PACE_MS } from "./load_request.ts";
import { canPin, ownProgram, run, type Server, startServer } from "./child.ts";
import type { ContractResult } from "./client_contract.ts";
import type { ClientLoad } from "./client_load.ts";
import { HTTP_CLIENTS, openClient, UNDICI_VERSION } from "./http_clients.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { figure, mebibytes, table } from "./markdown.ts";
import { medianOf } from "./statistics.ts";
import { LOCK_OF_TESTS } from "../tests/support/packages.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS-clients.md", import.meta.url));
const COMPARED: readonly Mode[] = ["json", "paced", "burst"];
const LOAD_CORE = 0;
const UPSTREAM_CORE = 1;
const MAX_CONTRACT_MS = 900_000;

/** Microseconds of processor time for each client and mode, for a JSON call or a stream chunk. */
type CpuFigures = Record<string, Record<string, number | null>>;

function programOf(name: string): string {
  return fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
}

async function output<T>(args: readonly string[], timeoutMs: number, core: number | null): Promise<T> {
  const command = [Deno.execPath(), "run", "--allow-all", "--quiet", "--no-check", `--lock=${LOCK_OF_TESTS}`, ...args];
  return JSON.parse((await run(command, { core, timeoutMs })).trim().split("\n").at(-1)!);
}

async function measure(port: number, seconds: number, rounds: number): Promise<CpuFigures> {
  const samples = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const mode of COMPARED) {
      for (const name of Object.keys(HTTP_CLIENTS)) {
        const args = [programOf("client_load"), name, String(port), mode, String(seconds)];
        const load = await output<ClientLoad>(args, (seconds + 60) * 1_000, await canPin() ? LOAD_CORE : null);
        const key = `${name} ${mode}`;
        samples.set(key, [...samples.get(key) ?? [], cpuMicrosecondsOf(mode, load)]);
      }
    }
  }
  const figureOf = (name: string, mode: Mode) => medianOf(samples.get(`${name} ${mode}`) ?? []);
  return Object.fromEntries(
    Object.keys(HTTP_CLIENTS).map((name) => [
      name,
      Object.fromEntries(COMPARED.map((mode) => [mode, figureOf(name, mode)])),
    ]),
  );
}

/** Streams that are open at either end of the measurement count by their bytes. */
function cpuMicrosecondsOf(mode: Mode, { calls, bytes, cpuMs }: ClientLoad): number {
  const units = mode === "json" ? calls : bytes / meanChunkBytes;
  return cpuMs * 1_000 / units;
}

/** The mean size of a chunk of the chat format. */
let meanChunkBytes = 0;

async function bytesPerChunk(port: number): Promise<number> {
  const request = { port, method: "POST", path: "/burst/chat/completions", headers: {}, signal: null } as const;
  const client = openClient("net/http1");
  let bytes = 0;
  await client.exchange({ ...request, body: new TextEncoder().encode("{}") }, (piece) => void (bytes += piece.length));
  await client.close();
  return bytes / CHUNKS.burst;
}

function speedTable(figures: CpuFigures): string {
  const own = figures["net/http1"];
  const cell = (value: number | null, base: number | null) =>
    value === null || base === null ? "–" : `${figure(value, 1)} (${figure(value / base, 2)})`;
  const rows = Object.entries(figures).map(([name, byMode]) => [
    titleOf(name),
    ...COMPARED.map((mode) => cell(byMode[mode] ?? null, own?.[mode] ?? null)),
  ]);
  return table(["client", "JSON call, µs", "paced chunk, µs", "burst chunk, µs"], rows);
}

function contractTable(results: ReadonlyMap<string, ContractResult>): string {
  const rows = [...results].map(([name, { cases, failures }]) => [
    titleOf(name),
    `${cases - failures.length}`,
    `${cases}`,
  ]);
  return table(["client", "cases passed", "of"], rows);
}

function failureList(results: ReadonlyMap<string, ContractResult>): string {
  return [...results].filter(([, { failures }]) => failures.length > 0).map(([name, { failures }]) =>
    `### ${titleOf(name)}\n\n${failures.map((failure) => `- ${failure.replaceAll("`", "'")}`).join("\n")}`
  ).join("\n\n");
}

function titleOf(name: string): string {
  return name === "undici" ? `undici ${UNDICI_VERSION}` : name;
}

function machineLine({ cpu, cores, memoryBytes, system, deno }: Machine): string {
  const today = new Date().toISOString().slice(0, 10);
  return `${cpu}, ${cores} cores, ${mebibytes(memoryBytes)} MiB; ${system}; Deno ${deno}. ${today}.`;
}

function option(name: string, otherwise: number): number {
  const at = Deno.args.indexOf(`--${name}`);
  return at === -1 ? otherwise : Number(Deno.args[at + 1]);
}

async function main(): Promise<void> {
  const folder = await Deno.makeTempDir();
  const machine = await describeMachine(folder);
  const upstream: Server = await startServer({
    name: "upstream",
    command: ownProgram(programOf("upstream")),
    logPath: join(folder, "upstream.log"),
    core: await canPin() ? UPSTREAM_CORE : null,
  });
  try {
    meanChunkBytes = await bytesPerChunk(upstream.port);
    const [seconds, rounds] = [option("seconds", 4), option("rounds", 3)];
    const figures = await measure(upstream.port, seconds, rounds);
    const contract = new Map<string, ContractResult>();
    for (const name of Object.keys(HTTP_CLIENTS)) {
      contract.set(name, await output<ContractResult>([programOf("client_contract"), name], MAX_CONTRACT_MS, null));
    }
    await Deno.writeTextFile(
      RESULTS,
      `# HTTP clients

Written by \`deno run -A --lock=tests/deno.lock bench/clients.ts\`. ${
        machineLine(machine)
      } Decision 0021 has the conclusion.

## Processor time

Microseconds of processor time of all threads of the client's process, with the ratio to \`net/http1\` in brackets:
the median of ${rounds} rounds of ${seconds} s, in turn. The upstream is \`upstream.ts\`, in plain text over loopback,
on a separate core. JSON calls are 32 at a time with 0.6 KB to 1 KB. Paced streams are 64 at a time with a chunk every
${PACE_MS} ms. Bursts are 16 streams at a time of ${CHUNKS.burst} chunks at once. Only \`net/http1\` requests can be
aborted in these runs; the others have no abort signal.

${speedTable(figures)}

## Hostile vendors

\`tests/contract/hostile_cases.ts\`: each case asserts how the client handles a response, and that the next two
requests get their own responses.

${contractTable(contract)}

${failureList(contract)}
`,
    );
    await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", RESULTS] }).output();
    console.log(await Deno.readTextFile(RESULTS));
  } finally {
    await upstream.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) await main();
