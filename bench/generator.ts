import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { elementAt } from "../src/platform/lib/collections/element_at.ts";
import { isInstalled, ownProgramWith, run } from "./child.ts";
import type { LoadOptions, LoadResult } from "./load.ts";
import { encodeRequest, type LoadRequest, STREAM_MS } from "./load_request.ts";

/** Generates load on a server, from a separate core. */
export interface Generator {
  /** The name in the report. */
  readonly name: string;
  /** Throws when the generator itself fails; failures of the server are counted. */
  run(options: LoadOptions): Promise<LoadResult>;
}

/** The load generators: one for closed loops, one for constant rates and paced streams. They may be the same. */
export interface Generators {
  readonly closed: Generator;
  readonly timed: Generator;
}

/** Where a generator runs, and where it writes its requests. */
export interface GeneratorOptions {
  readonly core: number | null;
  readonly folder: string;
}

const LOAD_PROGRAM = fileURLToPath(new URL("./load.ts", import.meta.url));

/** Time limit after the duration of the load. */
const TIMEOUT_MARGIN_MS = 30_000;

function timeoutMsOf({ seconds }: LoadOptions): number {
  return seconds * 1000 + TIMEOUT_MARGIN_MS;
}

/** The generator in TypeScript, for machines without a C compiler. */
export function ownGenerator({ core, folder }: GeneratorOptions): Generator {
  return {
    name: "bench/load.ts",
    async run(options) {
      const path = join(folder, "load.json");
      await Deno.writeTextFile(path, JSON.stringify(options));
      const command = ownProgramWith([`--allow-read=${path}`], LOAD_PROGRAM, path);
      return JSON.parse(await run(command, { core, timeoutMs: timeoutMsOf(options) }));
    },
  };
}

/** The generator in C. */
export function nativeGenerator(program: string, { core, folder }: GeneratorOptions): Generator {
  return {
    name: "bench/native/generator.c",
    async run(options) {
      const { request, load, connections, seconds } = options;
      const path = join(folder, "request");
      await Deno.writeFile(path, encodeRequest(request));
      const number = load.kind === "rate" ? load.perSecond : load.kind === "streams" ? STREAM_MS : 0;
      const words = [load.kind, request.port, path, connections, seconds, number].map(String);
      return JSON.parse(await run([program, ...words], { core, timeoutMs: timeoutMsOf(options) }));
    },
  };
}

/** `wrk`, for closed loops only; null where it is not installed. */
export async function wrkGenerator({ core, folder }: GeneratorOptions): Promise<Generator | null> {
  if (!await isInstalled("wrk")) return null;
  return {
    name: "wrk",
    async run(options) {
      const script = join(folder, "wrk.lua");
      await Deno.writeTextFile(script, wrkScript(options.request));
      const origin = `http://127.0.0.1:${options.request.port}`;
      const amount = [`-c${options.connections}`, `-d${options.seconds}s`];
      const command = ["wrk", "-t1", ...amount, "--timeout", "10s", "-s", script, origin];
      return readWrk(await run(command, { core, timeoutMs: timeoutMsOf(options) }));
    },
  };
}

/** Wraps a generator to add up the complete replies of each port. */
export function withTally({ name, run: drive }: Generator, repliesByPort: Map<number, number>): Generator {
  return {
    name,
    async run(options) {
      const result = await drive(options);
      repliesByPort.set(options.request.port, (repliesByPort.get(options.request.port) ?? 0) + result.replies);
      return result;
    },
  };
}

/** The `wrk` script that sets the request and prints the results in a defined format. Source: wrk, SCRIPTING. */
export function wrkScript({ path, headers, body }: LoadRequest): string {
  const fields = Object.entries(headers).map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`);
  return `wrk.method = "POST"
wrk.path = ${lua(path)}
${fields.join("\n")}
wrk.body = ${lua(body)}
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("\\nresult %d %d %d %d %d %d\\n", summary.requests - e.status, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99), latency.max))
end
`;
}

/** Quotes a text. JSON's quoting equals Lua's for visible ASCII characters. */
function lua(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new RangeError("Cannot quote text for Lua: expected visible ASCII");
  return JSON.stringify(text);
}

/** Reads the line that {@linkcode wrkScript} prints; `wrk` counts in microseconds. */
export function readWrk(output: string): LoadResult {
  const line = /^result (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output);
  if (line === null) throw new Error("Cannot read the output of wrk: expected a line of results");
  const [replies = 0, elapsedUs = 0, failures = 0, ...spreadUs] = line.slice(1).map(Number);
  const [p50, p99, max] = [0, 1, 2].map((index) => elementAt(spreadUs, index) / 1000) as [number, number, number];
  const wholeMs = replies === 0 ? null : { p50, p99, max };
  return {
    replies,
    failures,
    elapsedMs: elapsedUs / 1000,
    wholeMs,
    gaps: { count: 0, late: 0, ms: null },
    oneWayMs: null,
  };
}
