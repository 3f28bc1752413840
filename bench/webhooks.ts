/**
 * Webhook deliveries on loopback: tasks end at a steady rate, each for one of many hosts over https, a twentieth of which never
 * answer. What counts is how late events reach the hosts that do.
 *
 *     deno run -A --unstable-kv bench/webhooks.ts [--rate 1000] [--seconds 10] [--hosts 200]
 *
 * The gateway's part runs in this process, the receivers in another. Each delivery is a TLS handshake of its own on both sides,
 * so on two cores half of the work is the receivers'. Needs `openssl` for a certificate.
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

async function main(rate: number, seconds: number, hosts: number): Promise<void> {
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
  const committedMs = performance.now() - begin;
  await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  const { user, system } = process.cpuUsage(cpu);
  const seen = await receivers.finish();
  await runner.drain(0);
  await store.close();
  await Deno.remove(folder, { recursive: true });

  const healthy = Array.from({ length: begun }, (_, n) => n % hosts >= hanging).filter(Boolean).length;
  const late = spreadOf(seen.lateMs);
  console.log(`tasks ended:           ${begun} in ${(committedMs / 1_000).toFixed(1)} s, for ${hosts} hosts`);
  console.log(`hosts that hang:       ${hanging}, asked ${seen.hanging} times`);
  console.log(`delivered to others:   ${seen.lateMs.length} of ${healthy}`);
  console.log(`late, p50 and p99:     ${late?.p50 ?? "-"} ms, ${late?.p99 ?? "-"} ms`);
  console.log(`processor time:        ${((user + system) / 1_000 / begun).toFixed(2)} ms a delivery, this process`);
  console.log(`jobs in memory:        ${mostRunning} at most`);
}

if (import.meta.main) {
  const option = { type: "string" } as const;
  const { values } = parseArgs({ args: Deno.args, options: { rate: option, seconds: option, hosts: option } });
  await main(Number(values.rate ?? 1_000), Number(values.seconds ?? 10), Number(values.hosts ?? 200));
}
