import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { elementAt } from "../src/lib/element_at.ts";
import type { LoadRequest } from "./load_request.ts";
import { isInstalled, ownProgram, run } from "./child.ts";
import type { LoadOptions, LoadResult } from "./load.ts";

/** Generates load on a server, from a separate core. */
export interface Generator {
  /** The name in the report. */
  readonly name: string;
  /** Throws when the generator itself fails; failures of the server are counted. */
  run(options: LoadOptions): Promise<LoadResult>;
}

const LOAD_PROGRAM = fileURLToPath(new URL("./load.ts", import.meta.url));

/** Time limit after the duration of the load. */
const TIMEOUT_MARGIN_MS = 30_000;

/** The benchmark's own generator, which parses the replies. */
export function ownGenerator(core: number | null): Generator {
  return {
    name: "bench/load.ts",
    async run(options) {
      const timeoutMs = options.seconds * 1000 + TIMEOUT_MARGIN_MS;
      return JSON.parse(await run(ownProgram(LOAD_PROGRAM, JSON.stringify(options)), { core, timeoutMs }));
    },
  };
}

/** `wrk`, a generator with very low overhead; null where it is not installed. It does not parse the replies. */
export async function wrkGenerator(core: number | null, folder: string): Promise<Generator | null> {
  if (!await isInstalled("wrk")) return null;
  return {
    name: "wrk",
    async run({ request: ask, connections, seconds }) {
      const script = join(folder, "wrk.lua");
      await Deno.writeTextFile(script, wrkScript(ask));
      const origin = `http://127.0.0.1:${ask.port}`;
      const command = ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", script, origin];
      return readWrk(await run(command, { core, timeoutMs: seconds * 1000 + TIMEOUT_MARGIN_MS }));
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
  io.write(string.format("\\nresult %d %d %d %d %d\\n", summary.requests - e.status, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99)))
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
  const line = /^result (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output);
  if (line === null) throw new Error("Cannot read the output of wrk: expected a line of results");
  const figureAt = (group: number) => Number(elementAt(line, group));
  const [replies, elapsedUs, failures] = [figureAt(1), figureAt(2), figureAt(3)];
  const wholeMs = replies === 0 ? null : { p50: figureAt(4) / 1000, p99: figureAt(5) / 1000 };
  return { replies, failures, elapsedMs: elapsedUs / 1000, wholeMs, firstMs: null, gapMs: null };
}
