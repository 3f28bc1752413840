/**
 * Webhook deliveries on loopback: tasks end at a steady rate, each for one of many hosts over https, a twentieth of which never
 * answer. What counts is how late events reach the hosts that do.
 *
 *     deno run -A --unstable-kv bench/webhooks.ts [--rate 1000] [--seconds 10] [--hosts 200]
 *
 * The gateway's part runs in this process, the receivers in another; what ends the tasks is in the figures, too. Needs
 * `openssl` for a certificate.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { createAccount } from "../src/billing/account.ts";
import { systemClock } from "../src/lib/clock.ts";
import { silentLog } from "../src/lib/log.ts";
import { readCidr } from "../src/net/address.ts";
import { openKvStore } from "../src/store/kv.ts";
import { newTaskId } from "../src/videos/task_id.ts";
import { createWebhooks } from "../src/webhooks/webhooks.ts";
import { run } from "./child.ts";
import { figure, table } from "./markdown.ts";
import { spreadOf } from "./statistics.ts";

const HANGING_SHARE = 0.05;
const TICK_MS = 20;
/** How long events that are late may still arrive. */
const GRACE_MS = 3_000;

interface Receivers {
  readonly port: number;
  /** Ends them and gives what they saw. */
  finish(): Promise<{ readonly lateMs: readonly number[]; readonly hanging: number }>;
}

async function makeCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [`${folder}/certificate.pem`, `${folder}/key.pem`];
  const subject = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:*.receiver.example"];
  const leaf = ["-addext", "basicConstraints=critical,CA:FALSE"]; // its own root, and no authority
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

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

/** What came of one run. */
export interface WebhookFigures {
  /** Tasks that ended a second, as asked for. */
  readonly rate: number;
  readonly seconds: number;
  readonly hosts: number;
  /** Attempts at hosts that hang. */
  readonly hangingAsked: number;
  /** Deliveries owed to the other hosts, and how many arrived while it was looked. */
  readonly healthy: number;
  readonly delivered: number;
  /** Milliseconds from a task's end to the arrival of its event, at the median and at 99 of 100; null when none arrived. */
  readonly late: { readonly p50: number; readonly p99: number } | null;
  /** Processor time of the gateway's part for each delivery, the tasks' ends included. */
  readonly cpuMs: number;
  /** The most jobs that were worked on at once. */
  readonly mostRunning: number;
}

/** Ends tasks at a rate and waits for what the receivers saw. */
export async function benchWebhooks(rate: number, seconds: number, hosts: number): Promise<WebhookFigures> {
  const folder = await Deno.makeTempDir();
  const { certificate, key } = await makeCertificate(folder);
  const receivers = await startReceivers(certificate, key);
  const store = await openKvStore({ path: `${folder}/store.db`, clock: systemClock, log: silentLog });
  await createAccount(store, { id: "bench", balance: 0n });
  const egress = {
    allow: [readCidr("127.0.0.1/32")],
    own: [],
    resolve: () => Promise.resolve(["127.0.0.1"]),
    caCertificates: [await Deno.readTextFile(certificate)],
  };
  const webhooks = createWebhooks({
    store,
    clock: systemClock,
    log: silentLog,
    egress,
    timeoutMs: 10_000,
    random: Math.random,
  });
  const runner = webhooks.startJobs();
  const hanging = Math.round(hosts * HANGING_SHARE);

  const commits: Promise<unknown>[] = [];
  const endTask = (n: number) => {
    const taskId = newTaskId(Date.now());
    const host = n % hosts;
    const callbackUrl = `https://${host < hanging ? "hang" : "host"}${host}.receiver.example:${receivers.port}/hook`;
    const endedAt = Date.now();
    const task = { id: taskId, status: "completed", prompt: "a lighthouse at dusk ".repeat(20), endedAt };
    const ended = { taskId, account: "bench", status: "completed", callbackUrl, endedAt, task } as const;
    commits.push(store.commit(null, webhooks.onTerminal({}, ended)));
  };

  const cpu = process.cpuUsage();
  const begin = performance.now();
  let begun = 0;
  let mostRunning = 0;
  while (begun < rate * seconds) {
    const owed = Math.min(rate * seconds, Math.floor((performance.now() - begin) / 1_000 * rate));
    while (begun < owed) endTask(begun++);
    mostRunning = Math.max(mostRunning, runner.running);
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(commits);
  await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  const { user, system } = process.cpuUsage(cpu);
  const seen = await receivers.finish();
  await runner.drain(0);
  await store.close();
  await Deno.remove(folder, { recursive: true });

  const late = spreadOf(seen.lateMs);
  return {
    rate,
    seconds,
    hosts,
    hangingAsked: seen.hanging,
    healthy: Array.from({ length: begun }, (_, n) => n % hosts >= hanging).filter(Boolean).length,
    delivered: seen.lateMs.length,
    late: late && { p50: late.p50, p99: late.p99 },
    cpuMs: (user + system) / 1_000 / begun,
    mostRunning,
  };
}

/** The figures as a table, a line for each run. */
export function writeWebhookReport(runs: readonly WebhookFigures[]): string {
  const head = ["tasks a second", "seconds", "delivered", "of", "late, ms, p50", "p99", "core ms each", "jobs at most"];
  const rows = runs.map((run) => [
    figure(run.rate),
    figure(run.seconds),
    figure(run.delivered),
    figure(run.healthy),
    figure(run.late?.p50),
    figure(run.late?.p99),
    figure(run.cpuMs, 2),
    figure(run.mostRunning),
  ]);
  return table(head, rows);
}

if (import.meta.main) {
  const option = { type: "string" } as const;
  const { values } = parseArgs({ args: Deno.args, options: { rate: option, seconds: option, hosts: option } });
  const rate = Number(values.rate ?? 1_000);
  console.log(
    writeWebhookReport([await benchWebhooks(rate, Number(values.seconds ?? 10), Number(values.hosts ?? 200))]),
  );
}
