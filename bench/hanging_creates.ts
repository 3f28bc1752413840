/**
 * Measures creates of videos while a vendor hangs: 2,000 tasks wait for it, and further creates are answered. A whole
 * gateway runs with the default settings and its store on disk.
 *
 *     deno run -A --unstable-kv bench/hanging_creates.ts [HANGING] [CREATES]
 */
import process from "node:process";
import { startApp } from "../src/entry/app/app.ts";
import { newApiKey } from "../src/money/billing/keys/api_key.ts";
import { readConfig } from "../src/config/config.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import { figure, table } from "./markdown.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** The milliseconds from a create to its 202. */
export interface HangingFigures extends Spread {
  readonly hanging: number;
  readonly creates: number;
}

/** Creates at once. */
const PARALLEL = 16;

/** Creates tasks at a vendor that never answers, and measures further creates meanwhile. */
export async function benchHangingCreates(hanging = 2_000, creates = 1_000): Promise<HangingFigures> {
  const folder = await Deno.makeTempDir();
  const opened = new Set<PromiseWithResolvers<Response>>();
  const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    const never = Promise.withResolvers<Response>();
    opened.add(never);
    return never.promise;
  });
  const key = newApiKey();
  const tree = {
    server: { port: 0, isolates: 1 },
    store: `kv:${folder}/bench.db`,
    files: `${folder}/files`,
    accounts: [{ id: "bench", balance: "100000.00", keys: [key] }],
    providers: { hanging: { kind: "ark", base_url: `http://127.0.0.1:${vendor.addr.port}`, api_key: "bench" } },
    models: [{
      id: "bench/video",
      video: { modes: ["text2video"], price_per_second: { default: "0.0001" } },
      serves: [{ provider: "hanging" }],
    }],
  };
  const config = readConfig(JSON.stringify(tree), "bench.json", () => undefined);
  const app = await startApp({ config, log: silentLog });
  const create = async () => {
    const startedAt = performance.now();
    const response = await fetch(`${app.address}/v1/videos`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "bench/video", prompt: "A lighthouse at dusk" }),
    });
    await response.body?.cancel();
    if (response.status !== 202) throw new Error(`A create was answered with ${response.status}`);
    return performance.now() - startedAt;
  };
  try {
    await several(hanging, create);
    const spread = spreadOf(await several(creates, create));
    if (spread === null) throw new Error("Expected at least one create");
    return { hanging, creates, ...spread };
  } finally {
    for (const { resolve } of opened) resolve(new Response(null, { status: 429 }));
    await app.stop();
    await vendor.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

async function several(count: number, create: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  let started = 0;
  await Promise.all(Array.from({ length: PARALLEL }, async () => {
    while (started++ < count) times.push(await create());
  }));
  return times;
}

/** Writes the section of the report. */
export function writeHangingReport({ hanging, creates, p50, p99, max }: HangingFigures): string {
  const figures = [figure(p50, 1), figure(p99, 1), figure(max, 1)].join(", ");
  return table(["what", "figure"], [
    [`milliseconds of ${creates} creates while ${hanging} hang (${PARALLEL} at once): p50, p99, maximum`, figures],
  ]);
}

if (import.meta.main) {
  const [hanging = 2_000, creates = 1_000] = process.argv.slice(2).map(Number);
  console.log(writeHangingReport(await benchHangingCreates(hanging, creates)));
  process.exit();
}
