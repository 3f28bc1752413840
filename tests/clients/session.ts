import { join } from "node:path";
import { atLeast } from "../support/items.ts";
import { type Cache, commonPath } from "./install.ts";
import { FAMILIES, type FamilyName } from "./program.ts";
import { type Exchange, startRecordingProxy } from "./recording_proxy.ts";

/** The environment of one scenario of one program with one family. */
export interface Session {
  readonly family: FamilyName;
  /** The model that represents the family. */
  readonly model: string;
  /** The gateway's address for the program: `http://127.0.0.1:<port>`, without a path. */
  readonly address: string;
  readonly key: string;
  readonly cache: Cache;
  /** The program's HOME, empty at first. */
  readonly home: string;
  /** The folder the program runs in, a git repository without commits. */
  readonly work: string;
  /** The program's requests so far, with the responses. */
  readonly exchanges: readonly Exchange[];
  /** Writes a file below HOME or the working folder, with the folders above it. */
  write(path: string, text: string): Promise<void>;
  /** Runs a program until it ends. */
  run(command: readonly string[], options?: RunOptions): Promise<ProgramOutput>;
}

/** Options of a program run. */
export interface RunOptions {
  /** Environment variables in addition to HOME and PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders of executables before the common ones. */
  readonly path?: readonly string[];
  /** Standard input. Default: none. */
  readonly input?: string;
  /** Called with each chunk of standard output. */
  readonly onOutput?: (piece: string) => void;
}

/** The output of a program that has ended. */
export interface ProgramOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that runs longer is treated as hanging. */
const MAX_RUN_MS = 120_000;

/** Refuses every connection: a program has access to loopback only, also for its telemetry. */
const NO_INTERNET = "http://127.0.0.1:9";

/** A session with the means to close it. */
export interface OpenSession extends Session {
  /** The output of each run of a program, in order. */
  readonly runs: readonly ProgramOutput[];
  close(): Promise<void>;
}

/** Opens a session in its own folders and with its own proxy in front of the gateway. */
export async function openSession(
  gateway: { readonly address: string; readonly key: string },
  cache: Cache,
  family: FamilyName,
): Promise<OpenSession> {
  const folder = await Deno.makeTempDir({ dir: cache.folder, prefix: "session-" });
  const home = join(folder, "home");
  const work = join(folder, "work");
  await Deno.mkdir(home);
  await Deno.mkdir(work);
  await new Deno.Command("git", { args: ["init", "--quiet"], cwd: work, stdout: "null", stderr: "null" }).output();
  const proxy = startRecordingProxy(gateway.address);
  const runs: ProgramOutput[] = [];
  return {
    family,
    model: FAMILIES[family],
    address: proxy.address,
    key: gateway.key,
    cache,
    home,
    work,
    exchanges: proxy.exchanges,
    async write(path, text) {
      await Deno.mkdir(join(path, ".."), { recursive: true });
      await Deno.writeTextFile(path, text);
    },
    runs,
    async run(command, options = {}) {
      const ran = await runProgram(command, { ...options, home, work, cache });
      runs.push(ran);
      return ran;
    },
    async close() {
      await endProcessesOf(home);
      await proxy.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/**
 * The environment of a program.
 *
 * @param path Folders of executables before the common ones.
 */
export function programEnvironment(home: string, path: readonly string[], cache: Cache): Record<string, string> {
  return {
    HOME: home,
    PATH: [...path, ...commonPath(cache)].join(":"),
    LANG: "C.UTF-8",
    TERM: "dumb",
    HTTPS_PROXY: NO_INTERNET,
    https_proxy: NO_INTERNET,
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
  };
}

/** The surroundings of a program, in addition to what a scenario chooses. */
export interface ProgramOptions extends RunOptions {
  readonly home: string;
  readonly work: string;
  readonly cache: Cache;
  /** Maximum run time. Default two minutes. */
  readonly maxMs?: number;
}

/** Runs a program until it ends, with only the given environment. */
export async function runProgram(
  commandLine: readonly string[],
  { env = {}, path = [], input, onOutput, home, work, cache, maxMs = MAX_RUN_MS }: ProgramOptions,
): Promise<ProgramOutput> {
  const [command, ...args] = atLeast(commandLine, 1);
  const child = new Deno.Command(command, {
    args,
    cwd: work,
    clearEnv: true,
    env: { ...programEnvironment(home, path, cache), ...env },
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    // A process group of its own, so that its children end with it.
    detached: true,
  }).spawn();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child.pid);
  }, maxMs);
  try {
    if (input !== undefined) await new Response(input).body!.pipeTo(child.stdin).catch(() => {});
    const [stdout, stderr, { code }] = await Promise.all([
      textOf(child.stdout, onOutput),
      textOf(child.stderr),
      // Its remaining children would keep the output open.
      child.status.finally(() => endGroup(child.pid)),
    ]);
    const late = isLate ? `\n(ended after ${maxMs / 1000} s)` : "";
    return { code, stdout, stderr: stderr + late };
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a process with its whole group. */
function endGroup(pid: number): void {
  endProcess(-pid);
}

/**
 * Ends the processes with this HOME, which is unique. This includes those that left the process group to run in the
 * background.
 */
export async function endProcessesOf(home: string): Promise<void> {
  if (Deno.build.os !== "linux") return;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
    if (environment.split("\0").includes(`HOME=${home}`)) endProcess(Number(name));
  }
}

function endProcess(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch { /* Already ended. */ }
}

async function textOf(stream: ReadableStream<Uint8Array>, onPiece?: (piece: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    const piece = decoder.decode(chunk, { stream: true });
    text += piece;
    if (piece !== "") onPiece?.(piece);
  }
  return text;
}
