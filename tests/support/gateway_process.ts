const ROOT = new URL("../../", import.meta.url).pathname;

/** The program in a process of its own. */
export interface GatewayProcess {
  readonly pid: number;
  /** Everything it said so far. */
  readonly output: () => string;
  /** Its log. */
  readonly log: () => string;
  /** Resolves with what was said once it says this. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: Deno.Signal): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<Deno.CommandStatus>;
}

/** How the program is started. */
export interface ProcessOptions {
  readonly args: readonly string[];
  /** Where it runs and may write. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Most file descriptors that it may have open. */
  readonly descriptors?: number;
  /** What its files are not created with, in octal. */
  readonly umask?: string;
  /** Where its output goes, in the shell's words: `>/dev/full 2>log`. Default: it is collected here. */
  readonly redirects?: string;
}

/** Starts `main.ts` with the permissions that its tasks give it. */
export function startGatewayProcess(options: ProcessOptions): GatewayProcess {
  const { args, folder, env, descriptors, umask, redirects = "" } = options;
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
    `${ROOT}main.ts`,
    ...args,
  ];
  const limit = (descriptors === undefined ? "" : `ulimit -n ${descriptors}; `) +
    (umask === undefined ? "" : `umask ${umask}; `);
  const child = new Deno.Command("bash", {
    args: ["-c", `${limit}exec "$0" "$@" ${redirects}`, Deno.execPath(), ...run],
    cwd: folder,
    ...(env && { env }),
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
      for (;;) {
        const match = pattern.exec(output.text());
        if (match) return match;
        if (!await output.more()) throw new Error(`It ended without saying ${pattern}: ${log.text()}`);
      }
    },
    kill: (signal) => child.kill(signal),
    ended,
  };
}

/** A stream's text as it comes. */
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
