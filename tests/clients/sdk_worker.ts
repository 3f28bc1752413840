import { atLeast } from "../support/items.ts";
import type { Cache } from "./install.ts";
import { type ClientProgram, type Scenario, type ScenarioName, SCENARIOS } from "./program.ts";
import { programEnvironment } from "./session.ts";

/** A program of this folder that uses packages in the ways that its rows name. */
export interface SdkProgram {
  /** Identifies the program. */
  readonly name: string;
  readonly fast: boolean;
  /** Installs the packages into the cache. */
  install(cache: Cache): Promise<void>;
  /** The command that starts it. */
  command(cache: Cache): readonly string[];
  /** Folders of executables before the common ones. */
  path(cache: Cache): readonly string[];
  readonly rows: readonly SdkRow[];
}

/** One way in which a package calls the gateway. */
export interface SdkRow {
  /** The name in the table. */
  readonly name: string;
  /** The name in the program. */
  readonly row: string;
  /** The version of the package. */
  readonly version: string;
  /** Scenarios that the package does not support, with the reasons. */
  readonly lacks?: Readonly<Partial<Record<ScenarioName, string>>>;
}

/** The rows of a program, each as a client. */
export function sdkClients(program: SdkProgram): ClientProgram[] {
  return program.rows.map(({ name, row, version, lacks }) => {
    const scenarios = (Object.keys(SCENARIOS) as ScenarioName[]).map((scenario) =>
      [scenario, lacks?.[scenario] ?? scenarioOf(program, row, scenario)] as const
    );
    return {
      name,
      version,
      fast: program.fast,
      install: (cache) => program.install(cache),
      scenarios: Object.fromEntries(scenarios) as ClientProgram["scenarios"],
    };
  });
}

/** Calls the running program, and starts it on the first call: many packages take seconds to load. */
function scenarioOf(program: SdkProgram, row: string, scenario: ScenarioName): Scenario {
  return async ({ cache, address, key, model }) => {
    const worker = workers.get(program.name) ?? startWorker(program, cache);
    workers.set(program.name, worker);
    const outcome = await worker({ row, scenario, address, key, model });
    if (outcome !== "yes") throw new Error(outcome.replace("no: ", "").replaceAll(address, ""));
  };
}

/**
 * Calls a running program, one request at a time: a line of JSON on its standard input. The outcome, a line of JSON on
 * its standard output, is `yes` or `no: <why>`. The program ends with its standard input.
 */
type Worker = (request: unknown) => Promise<string>;

const workers = new Map<string, Worker>();

function startWorker(program: SdkProgram, cache: Cache): Worker {
  const [command, ...args] = atLeast(program.command(cache), 1);
  const home = Deno.makeTempDirSync({ prefix: "switchyard-clients-" });
  const child = new Deno.Command(command, {
    args,
    cwd: home,
    clearEnv: true,
    env: programEnvironment(home, program.path(cache), cache),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = lastWords(child.stderr);
  const input = child.stdin.getWriter();
  const lines = linesOf(child.stdout);
  const ask = async (request: unknown): Promise<string> => {
    await input.write(new TextEncoder().encode(JSON.stringify(request) + "\n")).catch(() => {});
    const line = await lines.next();
    if (!line.done) return JSON.parse(line.value).outcome;
    workers.delete(program.name);
    return `no: the program ended: ${await errors}`;
  };
  let before: Promise<unknown> = Promise.resolve();
  return (request) => {
    const outcome = before.then(() => ask(request));
    before = outcome.catch(() => {});
    return outcome;
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    yield* lines.filter((line) => line !== "");
  }
}

/** The last two lines of a program's output, once it has ended. */
async function lastWords(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let end = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) end = (end + chunk).slice(-2000);
  return end.trim().split("\n").slice(-2).join(" ");
}
