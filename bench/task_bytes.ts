import { DatabaseSync } from "node:sqlite";
import { createAccount } from "../src/money/billing/accounts/account.ts";
import { systemClock } from "../src/platform/lib/basics/clock.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import { MAX_MONEY } from "../src/platform/lib/basics/money.ts";
import { createJobRunner } from "../src/platform/store/job_runner.ts";
import { figure, table } from "./markdown.ts";
import { openKvStore } from "../src/platform/store/kv/open_kv_store.ts";
import type { JobStore } from "../src/platform/store/store.ts";
import type { VideoUpstream } from "../src/vendors/upstreams/contract/video_upstream.ts";
import type { Videos } from "../src/services/videos/videos.ts";
import { createWebhooks, type Webhooks } from "../src/services/webhooks/webhooks.ts";
import { BENCH_VIDEO_MODEL, videoEngineFor } from "./video_engine.ts";

/** The bytes under one kind of key, for each finished task. */
export interface StoredArea {
  /** The first parts of the key. */
  readonly area: string;
  readonly entries: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
}

/** The space of finished tasks. */
export interface TaskBytes {
  readonly tasks: number;
  readonly areas: readonly StoredArea[];
  /** Bytes of the database's file for each task, after everything was written into it. */
  readonly fileBytes: number;
}

/** A prompt of typical length. */
const PROMPT =
  "A lighthouse at dusk, waves break on the rocks below, a slow pan to the left, then the lamp is lit and its " +
  "beam crosses the water; cinematic, soft light, 35 mm, no people";
/** As long and as random as a vendor's signed URL. */
function resultUrl(): string {
  const host = "https://ark-content-generation-ap-southeast-1.tos-ap-southeast-1.bytepluses.com";
  const name = `seedance-1-0-pro/0217${randomHex(8)}-${randomHex(16)}_0.mp4`;
  const credential = `AKLT${randomHex(16)}%2F20261122%2Fap-southeast-1%2Ftos%2Frequest`;
  return `${host}/${name}?X-Tos-Algorithm=TOS4-HMAC-SHA256&X-Tos-Credential=${credential}` +
    `&X-Tos-Date=20261122T101010Z&X-Tos-Expires=86400&X-Tos-Signature=${randomHex(32)}&X-Tos-SignedHeaders=host`;
}

function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}

const EGRESS = { allow: [], own: [], resolve: () => Promise.resolve(["93.184.216.34"]) };

/** Completes that many tasks, each with or without a delivered event, and counts the bytes in the store. */
export async function benchTaskBytes(
  { tasks = 2_000, hasEvents }: { readonly tasks?: number; readonly hasEvents: boolean },
): Promise<TaskBytes> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/bench.db`;
  const store = await openKvStore({ path, clock: systemClock, log: silentLog });
  await createAccount(store, { id: "bench", balance: MAX_MONEY });
  const webhooks = webhooksOf(store);
  const videos = engineOf(store, webhooks, `${folder}/files`);
  const { handlers, concurrency, poller } = videos;
  const runners = [
    createJobRunner({ store, clock: systemClock, log: silentLog, handlers, concurrency }),
    poller.start(),
    webhooks.startJobs(),
  ];
  const callback_url = hasEvents ? "https://receiver.example/hooks/videos?account=42" : undefined;
  const body = { model: BENCH_VIDEO_MODEL, prompt: PROMPT, callback_url };
  for (let left = tasks; left > 0; left -= 100) {
    await Promise.all(
      Array.from({ length: Math.min(left, 100) }, () =>
        videos.create({
          keyId: "key_01a1fdeba9eb000039912c18bfb0",
          accountId: "bench",
          limits: null,
          receivedAt: 0,
          body,
          key: null,
        })),
    );
  }
  while (!await isDone(store, tasks, hasEvents)) await new Promise((resolve) => setTimeout(resolve, 200));
  await Promise.all(runners.map((runner) => runner.drain(1_000)));
  await store.close();
  const measured = measureFile(path, tasks);
  await Deno.remove(folder, { recursive: true });
  return { tasks, ...measured };
}

/** Whether every task has its copy, and its event is delivered. */
async function isDone(store: JobStore, tasks: number, hasEvents: boolean): Promise<boolean> {
  const delivered = hasEvents ? await store.scan(["webhook", "time", "delivered"], { limit: tasks }) : [];
  const copied = await store.scan(["video", "kept_files"], { limit: tasks });
  return delivered.length === (hasEvents ? tasks : 0) && copied.length === tasks;
}

function measureFile(path: string, tasks: number): Pick<TaskBytes, "areas" | "fileBytes"> {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const number = (pragma: string) => Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get()!)[0]);
  const fileBytes = number("page_count") * number("page_size") / tasks;
  const areas = new Map<string, { entries: number; keyBytes: number; valueBytes: number }>();
  for (const { k, v } of database.prepare("SELECT k, length(v) AS v FROM kv").iterate() as Iterable<Row>) {
    const area = areaOf(k);
    const sum = areas.get(area) ?? { entries: 0, keyBytes: 0, valueBytes: 0 };
    areas.set(area, { entries: sum.entries + 1, keyBytes: sum.keyBytes + k.length, valueBytes: sum.valueBytes + v });
  }
  database.close();
  const each = [...areas].map(([area, { entries, keyBytes, valueBytes }]) => ({
    area,
    entries: entries / tasks,
    keyBytes: keyBytes / tasks,
    valueBytes: valueBytes / tasks,
  }));
  const bytes = ({ keyBytes, valueBytes }: StoredArea) => keyBytes + valueBytes;
  return { areas: each.filter(({ entries }) => entries >= 0.5).sort((a, b) => bytes(b) - bytes(a)), fileBytes };
}

interface Row {
  readonly k: Uint8Array;
  readonly v: number;
}

/** The byte before each text in a key of Deno KV. */
const TEXT_MARK = 2;

/** The texts at the start of a key, as Deno KV encodes them: up to three, without ids. */
function areaOf(key: Uint8Array): string {
  const parts = new TextDecoder("latin1").decode(key).split("\0").slice(0, 4);
  const texts = parts.filter((part) => part.charCodeAt(0) === TEXT_MARK && /^[a-z_]+$/.test(part.slice(1)));
  return texts.map((part) => part.slice(1)).join(" ");
}

function webhooksOf(store: JobStore): Webhooks {
  return createWebhooks({
    store,
    clock: systemClock,
    log: silentLog,
    egress: EGRESS,
    timeoutMs: 10_000,
    random: Math.random,
    post: () => Promise.resolve({ status: 204, bytes: 0, header: () => null }),
  });
}

async function* someBytes(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield await Promise.resolve(new Uint8Array(16));
}

function engineOf(store: JobStore, { onTerminal }: Webhooks, files: string): Videos {
  const vendor: VideoUpstream = {
    mediaForms: { image: [], audio: [], video: [] },
    create: () => Promise.resolve({ id: `cgt-20261122-${crypto.randomUUID().slice(0, 12)}`, place: null }),
    poll: () =>
      Promise.resolve({
        status: "completed",
        results: [{ url: resultUrl(), needsCredential: true }],
        consumption: { seconds: 5, costUsd: null },
      }),
    cancel: null,
    find: null,
    open: () => Promise.resolve({ bytes: someBytes() }),
  };
  const polling = { firstMs: 100, minMs: 100, maxMs: 1_000, perSecond: 1_000 };
  return videoEngineFor({ store, vendor, files, polling, egress: EGRESS, onTerminal });
}

/** The version before finished tasks were stored compact, with the same benchmark: bytes of the file for each task. */
const BEFORE = { withEvent: 12_814, withoutEvent: 7_545 };

/** The figures as a section of the report. */
export function writeTaskBytesReport(withEvent: TaskBytes, withoutEvent: TaskBytes): string {
  const sum = ({ areas }: TaskBytes) => areas.reduce((total, area) => total + area.keyBytes + area.valueBytes, 0);
  const totals = table(["finished task", "bytes before", "bytes of the file", "keys and values"], [
    ["with a delivered event", figure(BEFORE.withEvent), figure(withEvent.fileBytes), figure(sum(withEvent))],
    ["without", figure(BEFORE.withoutEvent), figure(withoutEvent.fileBytes), figure(sum(withoutEvent))],
  ]);
  const rows = withEvent.areas.map((area) => [
    area.area.replace(/ bench$/, ""),
    figure(area.entries),
    figure(area.keyBytes),
    figure(area.valueBytes),
  ]);
  return `${totals}\n${table(["area, with an event", "entries", "bytes of keys", "bytes of values"], rows)}`;
}

if (import.meta.main) {
  const withEvent = await benchTaskBytes({ hasEvents: true });
  console.log(writeTaskBytesReport(withEvent, await benchTaskBytes({ hasEvents: false })));
}
