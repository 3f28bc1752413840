import { fileURLToPath } from "node:url";
import { LOCK_OF_TESTS } from "../tests/support/packages.ts";

/** Options of a server process. */
export interface ServerOptions {
  /** The name in messages. */
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly string[];
  /**
   * The port it will listen on, and its standard output is logged too; without it, the program prints
   * `http://…:<port>` there.
   */
  readonly port?: number;
  /** Environment variables, in addition to host and port. */
  readonly env?: Readonly<Record<string, string>>;
  /** The file of its log: its standard error. */
  readonly logPath: string;
  /** The only processor core it may run on; null for any. */
  readonly core: number | null;
  /** How long it may take until it listens. Default: half a minute. */
  readonly readyMs?: number;
}

/** A running server. */
export interface Server {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** Writes a line to its standard input. */
  writeLine(line: string): Promise<void>;
  /** Asks the server to end, and kills it after five seconds. */
  stop(): Promise<void>;
}

const READY_MS = 30_000;
const STOP_MS = 5_000;

/** Starts a server. Throws with the end of its log when it does not listen in time. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { name, command, port: given, env, logPath, core, readyMs = READY_MS } = options;
  const [redirection, stdout] = given === undefined
    ? ['2>"$log"', "piped" as const]
    : ['>"$log" 2>&1', "null" as const];
  // The shell only opens the log and then becomes the server, so the pid is the server's.
  const child = new Deno.Command("sh", {
    args: ["-c", `log=$1; shift; exec "$@" ${redirection}`, "sh", logPath, ...await pinned(command, core)],
    env: { HOST: "127.0.0.1", PORT: String(given ?? 0), ...env }, // The gateway gives these precedence over its file.
    stdin: "piped",
    stdout,
  }).spawn();
  const stdin = child.stdin.getWriter();
  const stop = async () => {
    await stdin.close().catch(() => {}); // Already ended.
    const timer = setTimeout(() => kill(child, "SIGKILL"), STOP_MS);
    kill(child, "SIGTERM");
    await child.status;
    clearTimeout(timer);
  };
  const port = given === undefined
    ? await portPrinted(child.stdout, readyMs)
    : await portOpened(given, child.status, readyMs);
  if (port === null) {
    await stop();
    throw new Error(`Cannot start ${name}: ${(await Deno.readTextFile(logPath)).slice(-2000)}`);
  }
  return { name, port, pid: child.pid, writeLine: (line) => stdin.write(new TextEncoder().encode(`${line}\n`)), stop };
}

/**
 * Runs a program to its end and returns its standard output. Throws with its standard error when it fails or times out.
 */
export async function run(
  command: readonly string[],
  { core = null, env, timeoutMs }: {
    readonly core?: number | null;
    /** Environment variables in addition to those of this process. */
    readonly env?: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
  },
): Promise<string> {
  const [program, ...args] = await pinned(command, core);
  if (program === undefined) throw new Error("Cannot run an empty command");
  const signal = AbortSignal.timeout(timeoutMs);
  const { success, stdout, stderr } = await new Deno.Command(program, { args, signal, ...env && { env } }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`Cannot run "${command[0]}": ${text.decode(stderr).slice(-2000)}`);
  return text.decode(stdout);
}

/** The command line of a module of the repository, to which its arguments are added. */
export function program(path: string, flags: readonly string[] = []): readonly string[] {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  return [Deno.execPath(), "run", "--quiet", "--no-check", ...flags, "-A", file];
}

/** Whether a program is installed. */
export async function isInstalled(program: string): Promise<boolean> {
  const { success } = await new Deno.Command("sh", { args: ["-c", 'command -v "$1"', "sh", program], stdout: "null" })
    .output();
  return success;
}

let hasTaskset: Promise<boolean> | null = null;

/** Whether programs can be pinned to one core on this machine. */
export function canPin(): Promise<boolean> {
  return hasTaskset ??= isInstalled("taskset");
}

async function pinned(command: readonly string[], core: number | null): Promise<readonly string[]> {
  return core !== null && await canPin() ? ["taskset", "-c", String(core), ...command] : command;
}

/** The port that a server prints; null when it ends or prints none. Later output is dropped. */
async function portPrinted(
  stdout: ReadableStream<Uint8Array<ArrayBuffer>>,
  readyMs: number,
): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const timer = setTimeout(() => resolve(null), readyMs);
  let said = "";
  const read = async () => {
    for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
      if (said.length < 100_000) said += text;
      const port = /http:\/\/[\w.]+:(\d+)\b/.exec(said);
      if (port !== null) resolve(Number(port[1]));
    }
    resolve(null);
  };
  void read();
  const port = await promise;
  clearTimeout(timer);
  return port;
}

/** The given port as soon as something listens there; null when the program ends before, or not in time. */
async function portOpened(port: number, ended: Promise<unknown>, readyMs: number): Promise<number | null> {
  let isOver = false;
  void ended.then(() => isOver = true);
  const until = performance.now() + readyMs;
  while (!isOver && performance.now() < until) {
    try {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      connection.close();
      return port;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return null;
}

/** A port on loopback that nothing listens on now. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function kill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // Already ended.
  }
}

/** The command that runs one of the benchmark's own programs with access to loopback only. */
export function ownProgram(program: string, ...args: readonly string[]): string[] {
  return ownProgramWith([], program, ...args);
}

/** The command that runs one of the benchmark's own programs with further flags of `deno run`. */
export function ownProgramWith(permissions: readonly string[], program: string, ...args: readonly string[]): string[] {
  const flags = ["--quiet", "--no-check", `--lock=${LOCK_OF_TESTS}`, "--allow-net=127.0.0.1"];
  return [Deno.execPath(), "run", ...flags, ...permissions, program, ...args];
}
