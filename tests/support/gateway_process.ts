import { NO_UPDATE_CHECK } from "../../scripts/run_flags.ts";
import { PROGRAM } from "./program.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The program in a separate process. */
export interface GatewayProcess {
  readonly pid: number;
  /** Its output so far. */
  readonly output: () => string;
  /** Its log. */
  readonly log: () => string;
  /** Resolves when the output matches. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: Deno.Signal): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<Deno.CommandStatus>;
}

/** Options of the process. */
export interface ProcessOptions {
  readonly args: readonly string[];
  /** The path of the module that takes the arguments. Default: the program. */
  readonly program?: string;
  /** Further options of Deno. Default: none. */
  readonly flags?: readonly string[];
  /** The working folder, which it may write to. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The maximum number of open file descriptors. */
  readonly descriptors?: number;
  /** The umask, in octal. */
  readonly umask?: string;
  /** Redirections in shell syntax: `>/dev/full 2>log`. Default: the output is collected. */
  readonly redirects?: string;
}

/** Starts the program with the permissions that its tasks give it. */
export function startGatewayProcess(options: ProcessOptions): GatewayProcess {
  const { args, flags = [], folder, env, descriptors, umask, redirects = "", program = PROGRAM } = options;
  const run = [
    "run",
    "--quiet",
    "--no-check",
    `--config=${ROOT}deno.json`,
    "--allow-net",
    "--allow-env",
    "--allow-read",
    `--allow-write=${folder}`,
    "--allow-sys=uid,statfs,systemMemoryInfo",
    ...flags,
    program,
    ...args,
  ];
  const limit = (descriptors === undefined ? "" : `ulimit -n ${descriptors}; `) +
    (umask === undefined ? "" : `umask ${umask}; `);
  const child = new Deno.Command("bash", {
    args: ["-c", `${limit}exec "$0" "$@" ${redirects}`, Deno.execPath(), ...run],
    cwd: folder,
    env: { ...NO_UPDATE_CHECK, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = collected(child.stdout);
  const log = collected(child.stderr);
  const ended = Promise.all([child.status, output.done, log.done]).then(([status]) => status);
  return {
    pid: child.pid,
    output: output.text,
    log: log.text,
    async until(pattern) {
      const limit = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => limit.resolve(false), PATIENCE_MS);
      try {
        // Ends at the time limit.
        for (;;) {
          const match = pattern.exec(output.text());
          if (match) return match;
          if (await Promise.race([output.more(), limit.promise])) continue;
          throw new Error(`It does not say ${pattern}, but: ${output.text()}${log.text()}`);
        }
      } finally {
        clearTimeout(timer);
      }
    },
    kill: (signal) => child.kill(signal),
    ended,
  };
}

/** How long a text is waited for. A machine that runs other tests, too, starts a process late. */
const PATIENCE_MS = 180_000;

/** Collects a stream's text. */
function collected(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let text = "";
  let isOver = false;
  let came = Promise.withResolvers<void>();
  const done = (async () => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      came.resolve();
      came = Promise.withResolvers();
    }
    isOver = true;
    came.resolve();
  })();
  return {
    text: () => text,
    done,
    async more(): Promise<boolean> {
      if (isOver) return false;
      await came.promise;
      return true;
    },
  };
}
