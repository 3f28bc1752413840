import { join } from "node:path";
import { freePort, isInstalled } from "../child.ts";
import { type Installation, ownCaches, type Place } from "./installation.ts";
import { gatewayProcessBytes } from "../process_tree.ts";

/** What a user waits for and pays, from nothing to the first reply. */
export interface FirstReply {
  /** Seconds of the commands before the start. */
  readonly installSeconds: number;
  /** Seconds from the start to the end of the first reply. */
  readonly startSeconds: number;
  /** The same for a second start, with everything there. */
  readonly restartSeconds: number;
  /** Bytes below the folder after that: program, packages and caches. */
  readonly diskBytes: number;
  /** The part of them that is caches of package managers. */
  readonly cacheBytes: number;
  /** Resident bytes of the gateway a minute after its first reply; null where they cannot be read. */
  readonly memoryBytes: number | null;
}

const STEP_MS = 15 * 60_000;
const FIRST_REPLY_MS = 5 * 60_000;
const IDLE_MS = 60_000;
const POLL_MS = 20;

/**
 * Installs a gateway into an empty folder with empty caches, starts it and sends a request, twice.
 *
 * @returns The figures, or why there are none, as the end of a sentence.
 */
export async function measureFirstReply(
  installation: Installation,
  upstreamPort: number,
): Promise<FirstReply | string> {
  for (const program of installation.needs) if (!await isInstalled(program)) return `${program} is not installed`;
  const folder = await Deno.makeTempDir({ prefix: "first-reply-" });
  try {
    const place: Place = { folder, port: freePort(), upstreamPort };
    await Deno.mkdir(join(folder, "home"));
    await installation.prepare?.(place);
    const installing = performance.now();
    for (const command of installation.install(place)) await runStep(command, place);
    const installSeconds = secondsSince(installing);
    const first = await startOnce(installation, place, IDLE_MS);
    const second = await startOnce(installation, place, 0);
    return {
      installSeconds,
      startSeconds: first.seconds,
      restartSeconds: second.seconds,
      diskBytes: await bytesBelow(folder),
      cacheBytes: await bytesBelow(join(folder, "caches")),
      memoryBytes: first.memoryBytes,
    };
  } catch (error) {
    return String(error instanceof Error ? error.message : error).split("\n").slice(0, 4).join(" ").slice(0, 400);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function runStep([program = "", ...args]: readonly string[], place: Place): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    args,
    cwd: place.folder,
    env: ownCaches(place),
    stdout: "null",
    stderr: "piped",
    signal: AbortSignal.timeout(STEP_MS),
  }).output();
  if (!success) {
    throw new Error(`"${program} ${args.join(" ")}" failed: ${reasonIn(new TextDecoder().decode(stderr))}`);
  }
}

/** Starts the gateway, waits for its first reply, reads its memory after a while, and ends all its processes. */
async function startOnce(
  installation: Installation,
  place: Place,
  idleMs: number,
): Promise<{ readonly seconds: number; readonly memoryBytes: number | null }> {
  const started = performance.now();
  const [program = "", ...args] = installation.start(place);
  const child = new Deno.Command("setsid", {
    args: [program, ...args],
    cwd: join(place.folder, installation.startsIn ?? ""),
    env: ownCaches(place),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = new Output(child);
  try {
    await firstReply(installation, place, output, child.status);
    const seconds = secondsSince(started);
    await sleep(idleMs);
    return { seconds, memoryBytes: await gatewayProcessBytes(child.pid) };
  } finally {
    await stopGroup(child);
  }
}

/** Asks until the gateway replies as the vendor would. Throws when it ends before, or after five minutes. */
async function firstReply(
  installation: Installation,
  place: Place,
  output: Output,
  status: Promise<Deno.CommandStatus>,
): Promise<void> {
  let hasEnded = false;
  void status.then(() => hasEnded = true);
  const deadline = performance.now() + FIRST_REPLY_MS;
  let answer = "no connection";
  while (performance.now() < deadline) {
    if (hasEnded) throw new Error(`it ended before its first reply: ${reasonIn(output.text)}`);
    const request = installation.request(place, output.text);
    if (request !== null) {
      const reply = await fetch(`http://127.0.0.1:${place.port}${request.path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...request.headers },
        body: JSON.stringify({ model: request.model, messages: [{ role: "user", content: "Say hello" }] }),
      }).catch(() => null); // It does not listen yet.
      const text = await reply?.text();
      if (reply?.status === 200 && text?.includes('"choices"')) return;
      if (reply) answer = `${reply.status} ${text}`;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`no reply within ${FIRST_REPLY_MS / 60_000} minutes; the last answer was ${answer.slice(0, 200)}`);
}

/** What a process prints, on both streams. */
class Output {
  text = "";

  constructor({ stdout, stderr }: Deno.ChildProcess) {
    void this.#read(stdout);
    void this.#read(stderr);
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.text += text;
  }
}

/** Ends a process and all that it started, which are in its group: package runners do not always end what they run. */
async function stopGroup(child: Deno.ChildProcess): Promise<void> {
  const signal = (name: string) =>
    new Deno.Command("kill", { args: [`-${name}`, "--", `-${child.pid}`], stderr: "null" }).output();
  await signal("TERM");
  const timer = setTimeout(() => void signal("KILL"), 10_000);
  await child.status;
  clearTimeout(timer);
  await signal("KILL");
}

async function bytesBelow(folder: string): Promise<number> {
  const { stdout } = await new Deno.Command("du", { args: ["-sk", folder], stderr: "null" }).output();
  return Number(/^\d+/.exec(new TextDecoder().decode(stdout))?.[0] ?? 0) * 1024;
}

/** The last line that names an error, else the last line. */
function reasonIn(text: string): string {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.findLast((line) => /\berror\b/i.test(line)) ?? lines.at(-1) ?? "it printed nothing";
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1_000;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
