/** How to start a server. */
export interface ServerOptions {
  /** For messages. */
  readonly name: string;
  /** Program and arguments. It says `http://…:<port>` on its standard output when it listens. */
  readonly command: readonly string[];
  /** Where its standard error goes. */
  readonly logPath: string;
  /** The only core it may run on; null for any. */
  readonly core: number | null;
}

/** A server that runs. */
export interface Server {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** Writes a line to its standard input. */
  say(line: string): Promise<void>;
  /** Asks it to end, and ends it when it has not after five seconds. */
  stop(): Promise<void>;
}

const READY_MS = 30_000;
const STOP_MS = 5_000;

/** Starts a server. Throws when it does not listen within half a minute, with the end of its log. */
export async function startServer({ name, command, logPath, core }: ServerOptions): Promise<Server> {
  // The shell only opens the log and then becomes the server, so the pid is the server's own.
  const child = new Deno.Command("sh", {
    args: ["-c", 'log=$1; shift; exec "$@" 2>"$log"', "sh", logPath, ...await pinned(command, core)],
    env: { HOST: "127.0.0.1", PORT: "0" }, // The gateway puts these before its file.
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const stdin = child.stdin.getWriter();
  const stop = async () => {
    await stdin.close().catch(() => {}); // It has ended by itself.
    const patience = setTimeout(() => kill(child, "SIGKILL"), STOP_MS);
    kill(child, "SIGTERM");
    await child.status;
    clearTimeout(patience);
  };
  const port = await portSaid(child.stdout);
  if (port === null) {
    await stop();
    throw new Error(`Cannot start ${name}: ${(await Deno.readTextFile(logPath)).slice(-2000)}`);
  }
  return { name, port, pid: child.pid, say: (line) => stdin.write(new TextEncoder().encode(`${line}\n`)), stop };
}

/**
 * Runs a program to its end and gives its standard output. Throws with its standard error when it fails or takes too
 * long.
 */
export async function run(
  command: readonly string[],
  { core = null, timeoutMs }: { readonly core?: number | null; readonly timeoutMs: number },
): Promise<string> {
  const [program, ...args] = await pinned(command, core);
  if (program === undefined) throw new Error("Cannot run an empty command");
  const { success, stdout, stderr } = await new Deno.Command(program, { args, signal: AbortSignal.timeout(timeoutMs) })
    .output();
  const text = new TextDecoder();
  if (!success) throw new Error(`Cannot run "${command[0]}": ${text.decode(stderr).slice(-2000)}`);
  return text.decode(stdout);
}

/** Whether a program is installed. */
export async function isInstalled(program: string): Promise<boolean> {
  const { success } = await new Deno.Command("sh", { args: ["-c", 'command -v "$1"', "sh", program], stdout: "null" })
    .output();
  return success;
}

let hasTaskset: Promise<boolean> | null = null;

/** Whether programs can be kept to one core here. */
export function canPin(): Promise<boolean> {
  return hasTaskset ??= isInstalled("taskset");
}

async function pinned(command: readonly string[], core: number | null): Promise<readonly string[]> {
  return core !== null && await canPin() ? ["taskset", "-c", String(core), ...command] : command;
}

/**
 * The port that a server says it listens on; null when it ends or stays silent instead. What it says later is dropped.
 */
async function portSaid(stdout: ReadableStream<Uint8Array>): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const patience = setTimeout(() => resolve(null), READY_MS);
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
  clearTimeout(patience);
  return port;
}

function kill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended by itself.
  }
}

/** The command that runs one of the benchmark's own programs, which may use loopback and nothing else. */
export function ownProgram(program: string, ...args: readonly string[]): string[] {
  const options = ["--quiet", "--no-check", "--no-lock", "--allow-net=127.0.0.1"];
  return [Deno.execPath(), "run", ...options, program, ...args];
}
