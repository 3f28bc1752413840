import { assert } from "@std/assert";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { type Model, readModel } from "../../src/vendors/catalog/model.ts";
import { MemoryBudget } from "../../src/platform/lib/process/memory_budget.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { createJobRunner, type JobRunner } from "../../src/platform/store/job_runner.ts";
import type { VideoUpstream } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { createVideos, type Videos } from "../../src/services/videos/videos.ts";
import type { VideoParts } from "../../src/services/videos/tasks/video_parts.ts";
import { until } from "../support/manual_clock.ts";
import { LIMITS, openStage, type Stage, StageVendor } from "./stage.ts";

const HANGING = Array.from({ length: 5 }, (_, index) => `hanging-${index}`);

/**
 * Many accounts at many providers, of which one responds. The clock never moves, so anything that waits for it never
 * happens.
 */
class Crowd implements AsyncDisposable {
  readonly #gate = Promise.withResolvers<void>();
  readonly good = new StageVendor();
  readonly hanging = new Map(HANGING.map((name) => [name, this.#hangingVendor()]));
  readonly #accounts = new Set<string>();
  readonly #runners: JobRunner[] = [];

  readonly videos: Videos;

  private constructor(readonly stage: Stage, more: Partial<VideoParts>) {
    const upstreams = new Map([["good", this.good], ...this.hanging]);
    const catalog = createCatalog([
      ...[...upstreams.keys()].map((name) => modelOf(name, [name])),
      modelOf("either", ["hanging-0", "good"]),
    ]);
    this.videos = createVideos({ ...stage.parts, ...more, catalog, upstreams }, LIMITS);
  }

  static async open(more: Partial<VideoParts> = {}, media: Partial<VideoUpstream["mediaForms"]> = {}): Promise<Crowd> {
    const crowd = new Crowd(await openStage(), more);
    for (const upstream of [crowd.good, ...crowd.hanging.values()]) Object.assign(upstream.mediaForms, media);
    return crowd;
  }

  run(): void {
    const { store, clock } = this.stage;
    const { handlers, concurrency } = this.videos;
    const { video_submit, video_submit_retry } = handlers;
    const options = { store, clock, log: silentLog, concurrency };
    this.#runners.push(createJobRunner({ ...options, handlers: { video_submit, video_submit_retry } }));
  }

  async create(account: string, model: string, body: Record<string, unknown> = {}): Promise<string> {
    if (!this.#accounts.has(account)) await this.#credit(account);
    const caller = { keyId: `key of ${account}`, accountId: account, limits: null, receivedAt: 0 };
    const call = { ...caller, key: null };
    const { taskId } = await this.videos.create({ ...call, body: { model, prompt: "A lighthouse", ...body } });
    return taskId;
  }

  /** Waits until the vendor has the task. */
  async submitted(vendor: StageVendor, id: string): Promise<void> {
    await until(() => vendor.accepted.has(id));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gate.resolve();
    await Promise.all(this.#runners.map((runner) => runner.drain(0)));
    await this.stage.store.close();
  }

  #hangingVendor(): StageVendor {
    const vendor = new StageVendor();
    vendor.before = () => this.#gate.promise;
    return vendor;
  }

  async #credit(account: string): Promise<void> {
    this.#accounts.add(account);
    const available = readMoney("100");
    await this.stage.store.commit(null, {
      changeBalances: [{ account, available, held: 0n }],
      ledgerEntries: [{ account, operation: "credit", reference: `start of ${account}`, available, held: 0n }],
    });
  }
}

/** A model served by the first provider, and by the others as fallbacks. */
function modelOf(name: string, providers: readonly string[]): Model {
  return readModel({
    id: `sandbox/${name}`,
    video: { modes: ["text2video", "img2video"], price_per_second: { default: "0.0001" } },
    serves: providers.map((provider, index) => ({ provider, weight: index === 0 ? 1 : 0 })),
  });
}

Deno.test("vendors that never respond, for many accounts each, delay no creates at other vendors", async () => {
  await using crowd = await Crowd.open();
  crowd.run();
  for (const provider of HANGING) {
    for (let account = 0; account < 20; account++) {
      for (let nth = 0; nth < 5; nth++) await crowd.create(`account-${account}`, `sandbox/${provider}`);
    }
  }
  await crowd.submitted(crowd.good, await crowd.create("other", "sandbox/good"));
  await crowd.submitted(crowd.good, await crowd.create("account-0", "sandbox/good"));
});

Deno.test("one account's 1,000 creates at a slow provider leave room for another account", async () => {
  await using crowd = await Crowd.open();
  const slow = crowd.hanging.get("hanging-0")!;
  const gate = Promise.withResolvers<void>();
  let underWay = 0;
  slow.before = ({ prompt }) => prompt === "mine" ? undefined : (underWay++, gate.promise);
  for (let nth = 0; nth < 1_000; nth++) await crowd.create("greedy", "sandbox/hanging-0");
  crowd.run();
  await until(() => underWay > 0);
  const id = await crowd.create("modest", "sandbox/hanging-0", { prompt: "mine" });
  await crowd.submitted(slow, id);
  assert(underWay < 64, `it gets a part of the permits: ${underWay}`);
  gate.resolve();
});

Deno.test("a task whose first provider has no free place goes to the next one", async () => {
  await using crowd = await Crowd.open();
  crowd.run();
  for (let nth = 0; nth < 100; nth++) await crowd.create("greedy", "sandbox/hanging-0");
  await crowd.submitted(crowd.good, await crowd.create("greedy", "sandbox/either"));
});

Deno.test("2,000 tasks of unknown outcome at a vendor whose list does not respond delay no creates after a restart", async () => {
  await using crowd = await Crowd.open();
  const lost = crowd.hanging.get("hanging-0")!;
  lost.find = () => new Promise(() => {});
  const { store } = crowd.stage;
  const since = store.now();
  for (let nth = 0; nth < 2_000; nth++) {
    const id = await crowd.create(`account-${nth % 50}`, "sandbox/hanging-0");
    const [entry] = await store.get<object>([["video", "task", id]]);
    const stage = { step: "submitting", provider: "hanging-0", model: "sandbox/hanging-0", since };
    await store.commit(null, { set: [{ key: entry!.key, value: { ...entry!.value, stage } }] });
  }
  const id = await crowd.create("other", "sandbox/good");
  crowd.run();
  await crowd.submitted(crowd.good, id);
});

Deno.test("media of creates at vendors that never respond leave memory for another account's create", async () => {
  const memory = new MemoryBudget(40_000_000);
  const files: VideoParts["files"] = {
    write: () => Promise.resolve(0),
    find: () => Promise.resolve({ bytes: 300_000, read: () => pieces(300_000) } as never),
    remove: () => Promise.resolve(),
    removeLeftovers: () => Promise.resolve(),
  };
  await using crowd = await Crowd.open({ memory, files }, { image: ["data_uri"] });
  crowd.run();
  const picture = { frame_images: [frame(300_000)] };
  for (let account = 0; account < 30; account++) {
    for (const provider of HANGING) await crowd.create(`account-${account}`, `sandbox/${provider}`, picture);
  }
  await crowd.submitted(crowd.good, await crowd.create("other", "sandbox/good", picture));
});

const PNG_HEAD = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];

function pngOf(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  bytes.set([...PNG_HEAD, 0, 0, 1, 0, 0, 0, 1, 0]);
  return bytes;
}

async function* pieces(length: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield await Promise.resolve(pngOf(length));
}

function frame(length: number) {
  const url = `data:image/png;base64,${pngOf(length).toBase64()}`;
  return { type: "image_url", image_url: { url }, frame_type: "first_frame" };
}
