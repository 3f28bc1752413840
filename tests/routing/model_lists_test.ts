import { assertEquals } from "@std/assert";
import type { Model } from "../../src/vendors/catalog/model.ts";
import { readModelPattern } from "../../src/vendors/catalog/model_pattern.ts";
import { openFileDirectory } from "../../src/platform/files/directory.ts";
import type { Log } from "../../src/platform/lib/basics/log.ts";
import { createModelLists } from "../../src/vendors/routing/model_lists.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { ListedModel } from "../../src/vendors/upstreams/contract/model_listing.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { eventually } from "../support/account_money.ts";

const NO_FACTS = {
  description: null,
  created: null,
  contextLength: null,
  maxOutputTokens: null,
  inputModalities: null,
  expirationDate: null,
};

/** Counts the timers that were ever set. */
class TimerCountingClock extends ManualClock {
  timers = 0;

  override after(delayMs: number, callback: () => void): () => void {
    this.timers++;
    return super.after(delayMs, callback);
  }
}

/** Lists of one provider whose vendor's response the test sets. */
function stage(folder: string, baseUrl = "http://vendor") {
  const clock = new TimerCountingClock();
  const changes: string[][] = [];
  const events: string[] = [];
  const record = (event: string) => void events.push(event);
  const log: Log = { debug: record, info: record, warn: record, error: record };
  const vendor = { names: ["one"] as string[] | Error, reads: 0 };
  const listModels = (signal: AbortSignal): Promise<readonly ListedModel[]> => {
    vendor.reads++;
    signal.throwIfAborted();
    const { names } = vendor;
    if (names instanceof Error) return Promise.reject(names);
    return Promise.resolve(names.map((id) => ({ id, name: id, ...NO_FACTS })));
  };
  const lists = createModelLists({
    providers: [{
      provider: { name: "far", listModels },
      baseUrl,
      family: null,
      patterns: [readModelPattern({ id: "far/*", pricing: "free", refresh: 100 })],
    }],
    files: openFileDirectory(folder),
    clock,
    log,
    random: () => 0.5,
    onChange: (models: readonly Model[]) => void changes.push(models.map(({ id }) => id)),
  });
  const waitForReads = (count: number) => eventually(() => vendor.reads === count);
  /** Waits until the next read has its time. Each read sets its time limit, and then the time of the next one. */
  const settled = () => eventually(() => clock.timers === 2 * vendor.reads);
  return { lists, clock, changes, events, vendor, waitForReads, settled };
}

async function inFolder(run: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-lists-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a list is read at the start and at each interval, and reported when it changes", async () => {
  await inFolder(async (folder) => {
    const { lists, clock, changes, vendor, waitForReads, settled } = stage(folder);
    await lists.open();
    assertEquals([changes, vendor.reads], [[], 0]);
    lists.start();
    await eventually(() => changes.length === 1);
    await settled();
    clock.advance(99_000);
    assertEquals(vendor.reads, 1);
    clock.advance(1_000);
    await waitForReads(2);
    await settled();
    vendor.names = ["one", "two"];
    clock.advance(100_000);
    await eventually(() => changes.length === 2);
    assertEquals(changes, [["far/one"], ["far/one", "far/two"]]);
    await lists.close();
    clock.advance(1_000_000);
    assertEquals(vendor.reads, 3);
  });
});

Deno.test("a list that cannot be read keeps its last value, and is retried with increasing delays", async () => {
  await inFolder(async (folder) => {
    const { lists, clock, changes, events, vendor, waitForReads, settled } = stage(folder);
    lists.start();
    await eventually(() => changes.length === 1);
    await settled();
    const facts = { status: 503, accepted: "no" } as const;
    vendor.names = new UpstreamFailure("far", "unavailable", "Said the vendor", facts);
    for (const [index, delayMs] of [100_000, 10_000, 20_000, 40_000, 80_000, 100_000, 100_000].entries()) {
      clock.advance(delayMs - 1);
      assertEquals(vendor.reads, index + 1);
      clock.advance(1);
      await waitForReads(index + 2);
      await settled();
    }
    assertEquals([changes, events.filter((event) => event === "model_list_failed").length], [[["far/one"]], 7]);
    await lists.close();
  });
});

Deno.test("a list survives a restart, for the same address only", async () => {
  await inFolder(async (folder) => {
    const first = stage(folder);
    first.lists.start();
    await eventually(() => first.changes.length === 1);
    await first.settled();
    await first.lists.close();
    const second = stage(folder);
    second.vendor.names = new Error("gone");
    await second.lists.open();
    assertEquals([second.changes, second.vendor.reads], [[["far/one"]], 0]);
    const otherAddress = stage(folder, "http://other");
    await otherAddress.lists.open();
    assertEquals(otherAddress.changes, []);
    for await (const { name } of Deno.readDir(folder)) await Deno.writeTextFile(`${folder}/${name}`, '[{"id":7},');
    const third = stage(folder);
    await third.lists.open();
    assertEquals([third.changes, third.events], [[], ["model_list_unreadable"]]);
  });
});

Deno.test("a list that cannot be written to disk is still used", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    const { lists, changes, events } = stage(`${folder}/file/below`);
    await lists.open();
    lists.start();
    await eventually(() => events.includes("model_list_unkept"));
    assertEquals(changes, [["far/one"]]);
    await lists.close();
  });
});
