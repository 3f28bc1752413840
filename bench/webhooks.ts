/**
 * Measures webhook deliveries on loopback. Tasks end at a steady rate, each with an event for one of many https hosts,
 * a twentieth of which never answer. The figure is the lateness of events at the hosts that answer. Then two accounts
 * call one host, where the path of one never answers; the figure is the lateness of the other's events. Then the
 * receivers send what a delivery must not keep; the figure is the memory that this takes.
 *
 *     deno run -A --unstable-kv bench/webhooks.ts [--rate 1000] [--seconds 10] [--hosts 200]
 *     deno run -A --unstable-kv bench/webhooks.ts --hostile endless   a response of `webhook_receivers.ts`, or "well"
 *
 * The gateway's part runs in this process, the receivers in another. The figures include the ends of the tasks. Needs
 * `openssl` for a certificate.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { createAccount } from "../src/money/billing/accounts/account.ts";
import { systemClock } from "../src/platform/lib/basics/clock.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import { readCidr } from "../src/platform/net/address.ts";
import { openKvStore } from "../src/platform/store/kv/open_kv_store.ts";
import type { JobStore } from "../src/platform/store/store.ts";
import { newTaskId } from "../src/services/videos/tasks/task_id.ts";
import { createWebhooks, type Webhooks } from "../src/services/webhooks/webhooks.ts";
import { run } from "./child.ts";
import { figure, mebibytes, table } from "./markdown.ts";
import { spreadOf } from "./statistics.ts";

const HANGING_SHARE = 0.05;
const TICK_MS = 20;
/** How long late events may still arrive. */
const GRACE_MS = 3_000;
/** The same where one path of their host hangs. */
const SHARED_GRACE_MS = 90_000;

interface Receivers {
  readonly port: number;
  /** Ends the receivers and returns their records. */
  finish(): Promise<{ readonly lateMs: readonly number[]; readonly hanging: number }>;
}

async function makeCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [`${folder}/certificate.pem`, `${folder}/key.pem`];
  const subject = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:*.receiver.example"];
  const leaf = ["-addext", "basicConstraints=critical,CA:FALSE"]; // self-signed, and no certificate authority
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await run(["openssl", "req", "-x509", ...made, "-keyout", key, "-out", certificate, ...subject, ...leaf], {
    timeoutMs: 20_000,
  });
  return { certificate, key };
}

async function startReceivers(certificate: string, key: string): Promise<Receivers> {
  const program = new URL("./webhook_receivers.ts", import.meta.url).pathname;
  const args = ["run", "--quiet", "--allow-net", "--allow-read", program, certificate, key];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
  const lines = linesOf(child.stdout);
  const port = Number((await lines.next()).value);
  return {
    port,
    async finish() {
      await child.stdin.close();
      const { value } = await lines.next();
      await child.status;
      return JSON.parse(value ?? "");
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

/** The figures of one run. */
export interface WebhookFigures {
  /** Tasks that ended per second, as configured. */
  readonly rate: number;
  readonly seconds: number;
  readonly hosts: number;
  /** Attempts at hosts that never answer. */
  readonly hangingAttempts: number;
  /** Deliveries to the other hosts, and how many arrived during the measurement. */
  readonly healthy: number;
  readonly delivered: number;
  /**
   * Milliseconds from a task's end to the arrival of its event, at the median and at 99 of 100; null when none arrived.
   */
  readonly late: { readonly p50: number; readonly p99: number } | null;
  /** Processor time of the gateway's part for each delivery, the tasks' ends included. */
  readonly cpuMs: number;
  /** The maximum number of running jobs. */
  readonly maxRunning: number;
  /** Reads and commits of a delivery in the store, without its claim. */
  readonly reads: number;
  readonly commits: number;
}

/** The engine under test, and its end. */
interface Bench {
  readonly store: JobStore;
  readonly webhooks: Webhooks;
  /** The store operations of webhooks so far, by the name of the member. */
  readonly operations: ReadonlyMap<string, number>;
  readonly port: number;
  /** Ends a task with an event for a URL. */
  endTask(account: string, callbackUrl: string): Promise<unknown>;
  readonly running: () => number;
  finish(): ReturnType<Receivers["finish"]>;
}

async function openBench(accounts: readonly string[]): Promise<Bench> {
  const folder = await Deno.makeTempDir();
  const { certificate, key } = await makeCertificate(folder);
  const receivers = await startReceivers(certificate, key);
  const store = await openKvStore({ path: `${folder}/store.db`, clock: systemClock, log: silentLog });
  for (const id of accounts) await createAccount(store, { id, balance: 0n });
  const egress = {
    allow: [readCidr("127.0.0.1/32")],
    own: [],
    resolve: () => Promise.resolve(["127.0.0.1"]),
    caCertificates: [await Deno.readTextFile(certificate)],
  };
  const { counted, operations } = countOperations(store);
  const webhooks = createWebhooks({
    store: counted,
    clock: systemClock,
    log: silentLog,
    egress,
    timeoutMs: 10_000,
    random: Math.random,
  });
  const runner = webhooks.startJobs();
  return {
    store,
    webhooks,
    operations,
    port: receivers.port,
    running: () => runner.running,
    endTask(account, callbackUrl) {
      const endedAt = store.now();
      const taskId = newTaskId(endedAt);
      const task = { id: taskId, status: "completed", prompt: "a lighthouse at dusk ".repeat(20), endedAt };
      const ended = { taskId, account, status: "completed", callbackUrl, endedAt, task } as const;
      return store.commit(null, webhooks.onTerminal({}, ended));
    },
    async finish() {
      const seen = await receivers.finish();
      await runner.drain(0);
      await store.close();
      await Deno.remove(folder, { recursive: true });
      return seen;
    },
  };
}

/** Wraps the store and counts its operations. */
function countOperations(store: JobStore): { readonly counted: JobStore; readonly operations: Map<string, number> } {
  const operations = new Map<string, number>();
  const counted = new Proxy(store, {
    get(target, name: keyof JobStore) {
      const member = target[name];
      if (typeof member !== "function") return member;
      return (...args: never[]) => {
        operations.set(name, (operations.get(name) ?? 0) + 1);
        return Reflect.apply(member, target, args);
      };
    },
  });
  return { counted, operations };
}

/** Ends tasks at a rate and waits for the records of the receivers. */
export async function benchWebhooks(rate: number, seconds: number, hosts: number): Promise<WebhookFigures> {
  const bench = await openBench(["bench"]);
  const hanging = Math.round(hosts * HANGING_SHARE);
  const commits: Promise<unknown>[] = [];
  const endTask = (n: number) => {
    const host = n % hosts;
    const name = `${host < hanging ? "hang" : "host"}${host}.receiver.example`;
    commits.push(bench.endTask("bench", `https://${name}:${bench.port}/hook`));
  };

  const cpu = process.cpuUsage();
  const begin = performance.now();
  let begun = 0;
  let mostRunning = 0;
  while (begun < rate * seconds) {
    const expected = Math.min(rate * seconds, Math.floor((performance.now() - begin) / 1_000 * rate));
    while (begun < expected) endTask(begun++);
    mostRunning = Math.max(mostRunning, bench.running());
    await pause(TICK_MS);
  }
  await Promise.all(commits);
  await pause(GRACE_MS);
  const { user, system } = process.cpuUsage(cpu);
  const { operations } = bench;
  const [reads, written] = [operations.get("get") ?? 0, operations.get("commit") ?? 0];
  const seen = await bench.finish();

  const late = spreadOf(seen.lateMs);
  return {
    rate,
    seconds,
    hosts,
    hangingAttempts: seen.hanging,
    healthy: Array.from({ length: begun }, (_, n) => n % hosts >= hanging).filter(Boolean).length,
    delivered: seen.lateMs.length,
    late: late && { p50: late.p50, p99: late.p99 },
    cpuMs: (user + system) / 1_000 / begun,
    maxRunning: mostRunning,
    reads: reads / begun,
    commits: written / begun,
  };
}

/** The figures of two accounts that call one host, where the path of one never answers. */
export interface SharedHostFigures {
  /** Events for the path that never answers, all at once before the others. */
  readonly hanging: number;
  /** Events for the other account's path, and how many arrived within a minute and a half. */
  readonly expected: number;
  readonly delivered: number;
  /** As in {@linkcode WebhookFigures}. */
  readonly late: { readonly p50: number; readonly most: number } | null;
}

/** Ends tasks of one account for a path that never answers, then those of another for a good path of the host. */
export async function benchSharedHost(hanging: number, expected: number): Promise<SharedHostFigures> {
  const bench = await openBench(["hanging", "good"]);
  const host = `https://shared.receiver.example:${bench.port}`;
  await Promise.all(Array.from({ length: hanging }, () => bench.endTask("hanging", `${host}/hang`)));
  await pause(500);
  for (let n = 0; n < expected; n++) {
    await bench.endTask("good", `${host}/good`);
    await pause(TICK_MS);
  }
  const pending = { state: "delivered", from: 0, to: Infinity } as const;
  for (let waited = 0; waited < SHARED_GRACE_MS; waited += 250) {
    const page = { after: null, limit: expected, reverse: false };
    if ((await bench.webhooks.deliveries.list(pending, page)).deliveries.length === expected) break;
    await pause(250);
  }
  const { lateMs } = await bench.finish();
  const late = spreadOf(lateMs);
  return {
    hanging,
    expected,
    delivered: lateMs.length,
    late: late && { p50: late.p50, most: Math.max(...lateMs) },
  };
}

/** The memory of deliveries to receivers that respond in a hostile way. */
export interface HostileFigures {
  /** What they send; "well" for receivers that answer 204. */
  readonly response: string;
  /** Events, of as many tasks that ended within a second, for 200 hosts. */
  readonly events: number;
  /** Resident bytes of this process before, at most during 12 s, and 10 s later. */
  readonly beforeBytes: number;
  readonly mostBytes: number;
  readonly afterBytes: number;
}

const HOSTILE_EVENTS = 1_000;
const HOSTILE_HOSTS = 200;
/** Longer than a delivery may take. */
const HOSTILE_MS = 12_000;

/** Ends tasks whose receivers all respond in one way, by the name of their path in `webhook_receivers.ts`. */
export async function benchHostile(response: string): Promise<HostileFigures> {
  const bench = await openBench(["bench"]);
  await bench.endTask("bench", `https://first.receiver.example:${bench.port}/well`); // loads what deliveries need
  await pause(1_000);
  const beforeBytes = Deno.memoryUsage().rss;
  let mostBytes = 0;
  for (let n = 0; n < HOSTILE_EVENTS; n++) {
    await bench.endTask("bench", `https://host${n % HOSTILE_HOSTS}.receiver.example:${bench.port}/${response}`);
  }
  for (let waited = 0; waited < HOSTILE_MS; waited += TICK_MS) {
    mostBytes = Math.max(mostBytes, Deno.memoryUsage().rss);
    await pause(TICK_MS);
  }
  await pause(10_000);
  const afterBytes = Deno.memoryUsage().rss;
  await bench.finish();
  return { response, events: HOSTILE_EVENTS, beforeBytes, mostBytes, afterBytes };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The figures as a table, a row for each run. */
export function writeWebhookReport(runs: readonly WebhookFigures[]): string {
  const head = [
    "tasks per second",
    "seconds",
    "delivered",
    "of",
    "late, ms, p50",
    "p99",
    "core ms each",
    "max jobs",
    "reads each",
    "commits each",
  ];
  const rows = runs.map((run) => [
    figure(run.rate),
    figure(run.seconds),
    figure(run.delivered),
    figure(run.healthy),
    figure(run.late?.p50),
    figure(run.late?.p99),
    figure(run.cpuMs, 2),
    figure(run.maxRunning),
    figure(run.reads, 2),
    figure(run.commits, 2),
  ]);
  return table(head, rows);
}

/** The figures of a shared host as a table. */
export function writeSharedHostReport(runs: readonly SharedHostFigures[]): string {
  const head = ["hanging events before", "delivered", "of", "late, ms, p50", "max"];
  const rows = runs.map((run) => [
    figure(run.hanging),
    figure(run.delivered),
    figure(run.expected),
    figure(run.late?.p50),
    figure(run.late?.most),
  ]);
  return table(head, rows);
}

/** The figures of hostile receivers as a table. */
export function writeHostileReport(runs: readonly HostileFigures[]): string {
  const rows = runs.map(({ response, events, beforeBytes, mostBytes, afterBytes }) => [
    response,
    figure(events),
    mebibytes(beforeBytes),
    mebibytes(mostBytes),
    mebibytes(afterBytes),
  ]);
  return table(["response", "events", "MiB before", "at most", "10 s later"], rows);
}

if (import.meta.main) {
  const option = { type: "string" } as const;
  const options = { rate: option, seconds: option, hosts: option, hostile: option };
  const { values } = parseArgs({ args: Deno.args, options });
  if (values.hostile !== undefined) {
    console.log(writeHostileReport([await benchHostile(values.hostile)]));
    Deno.exit(0);
  }
  const rate = Number(values.rate ?? 1_000);
  console.log(
    writeWebhookReport([await benchWebhooks(rate, Number(values.seconds ?? 10), Number(values.hosts ?? 200))]),
  );
  console.log(`\n${writeSharedHostReport([await benchSharedHost(60, 50)])}`);
}
