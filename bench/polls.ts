/**
 * Measures the polls of tasks that were just submitted to a vendor. A whole gateway runs with the default settings and
 * its store on disk. The vendor is in a separate process and its jobs never end.
 *
 *     deno run -A --unstable-kv bench/polls.ts [TASKS] [SECONDS]
 */
import process from "node:process";
import { startApp } from "../src/entry/app/app.ts";
import { newApiKey } from "../src/money/billing/keys/api_key.ts";
import { readConfig } from "../src/config/config.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import { figure, percent, table } from "./markdown.ts";

/** The figures of one kind of vendor. */
export interface PollFigures {
  /** One request to `ark` polls many jobs; `xai` does not support that. */
  readonly kind: "ark" | "xai";
  readonly tasks: number;
  /** Requests to the vendor per second. */
  readonly requestsPerSecond: number;
  /** Share of one core. */
  readonly cpuShare: number;
}

const PARALLEL = 64;
/** The time until every task was polled once. */
const FIRST_POLLS_MS = 12_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates tasks and measures their first seconds. */
export async function benchPolls(kind: PollFigures["kind"], tasks = 2_000, seconds = 30): Promise<PollFigures> {
  const vendor = await startVendor();
  const folder = await Deno.makeTempDir();
  const key = newApiKey();
  const tree = {
    server: { port: 0, isolates: 1 },
    store: `kv:${folder}/bench.db`,
    files: `${folder}/files`,
    accounts: [{ id: "bench", balance: "100000.00", keys: [key] }],
    providers: {
      bench: { kind, base_url: `${vendor.address}${kind === "ark" ? "/api/v3" : "/v1"}`, api_key: "bench" },
    },
    models: [{
      id: "bench/video",
      video: { modes: ["text2video"], price_per_second: { default: "0.0001" } },
      serves: [{ provider: "bench" }],
    }],
  };
  const app = await startApp({
    config: readConfig(JSON.stringify(tree), "bench.json", () => undefined),
    log: silentLog,
  });
  await createAll(app.address, key, tasks);
  while ((await vendor.counts()).jobs < tasks) await sleep(100);
  await sleep(FIRST_POLLS_MS);
  const [cpu, before, begun] = [process.cpuUsage(), await vendor.counts(), performance.now()];
  await sleep(seconds * 1_000);
  const { user, system } = process.cpuUsage(cpu);
  const lasted = (performance.now() - begun) / 1_000;
  const after = await vendor.counts();
  const requests = after.single + after.lists - before.single - before.lists;
  await app.stop();
  await vendor.stop();
  await Deno.remove(folder, { recursive: true });
  return { kind, tasks, requestsPerSecond: requests / lasted, cpuShare: (user + system) / 1e6 / lasted };
}

/** The figures as a table. */
export function writePollReport(figures: readonly PollFigures[]): string {
  const rows = figures.map(({ kind, tasks, requestsPerSecond, cpuShare }) => [
    kind === "ark" ? "many jobs per request" : "one job per request",
    figure(tasks),
    figure(requestsPerSecond, 1),
    percent(cpuShare),
  ]);
  return table(["vendor", "new tasks", "requests per second", "of a core"], rows);
}

async function createAll(address: string, key: string, count: number): Promise<void> {
  let left = count;
  const body = JSON.stringify({ model: "bench/video", prompt: "A lighthouse at dusk, waves, a slow pan to the left" });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  await Promise.all(Array.from({ length: PARALLEL }, async () => {
    while (left-- > 0) {
      const answer = await fetch(`${address}/v1/videos`, { method: "POST", headers, body });
      if (answer.status !== 202) throw new Error(`The creation was answered ${answer.status}: ${await answer.text()}`);
      await answer.body?.cancel();
    }
  }));
}

/** Starts `poll_vendor.ts` in a separate process. */
export async function startVendor() {
  const program = new URL("./poll_vendor.ts", import.meta.url).pathname;
  const args = ["run", "--quiet", "--allow-net", program];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const address = `http://127.0.0.1:${Number((await reader.read()).value)}`;
  return {
    address,
    counts: async (): Promise<{ jobs: number; single: number; lists: number }> =>
      await (await fetch(`${address}/counts`)).json(),
    async stop() {
      child.kill();
      await child.status;
      await reader.cancel();
    },
  };
}

if (import.meta.main) {
  const [tasks, seconds] = Deno.args.map(Number);
  const figures: PollFigures[] = [];
  for (const kind of ["ark", "xai"] as const) {
    figures.push(await benchPolls(kind, tasks || undefined, seconds || undefined));
  }
  console.log(writePollReport(figures));
}
