import { assertEquals } from "@std/assert";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { until } from "../support/manual_clock.ts";
import { openBatchStage, VENDOR_COST } from "./stage.ts";

const HOUR_MS = 3_600_000;
const texts = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`);

Deno.test("vendors' batches: lines are cut to the vendor's limits, and each is sent and charged once", async () => {
  await using at = await openBatchStage(() => ({}));
  at.vendor.limits = { lines: 7, bytes: 1_000_000 };
  const id = await at.create(texts(20), true);
  await at.run();
  assertEquals(at.vendor.made.map(({ ids }) => ids.length), [7, 7, 6]);
  at.vendor.limits = { lines: 50_000, bytes: 1_000_000 };
  at.vendor.end();
  await at.runToEnd(id);
  const { status, completed, cost } = await at.read(id);
  assertEquals([status, completed, cost, at.stage.ran], ["completed", 20, 20n * VENDOR_COST, []]);
  assertEquals(new Set(at.vendor.made.flatMap(({ ids }) => ids)).size, 20);
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 20n * VENDOR_COST, held: 0n });
  assertEquals((await verifyLedger(at.store)).differences, []);
  await at.clean();
  assertEquals(at.names().filter((name) => name.startsWith("batch-")), []);
});

Deno.test("vendors' batches: bytes are a limit, too, and a line that no batch can have fails", async () => {
  await using at = await openBatchStage(() => ({}));
  at.vendor.limits = { lines: 50, bytes: 200 };
  const id = await at.create(["a", "b", "c", "x".repeat(400)], true);
  await at.run();
  assertEquals(at.vendor.made.map(({ ids }) => ids.length), [2, 1]);
  at.vendor.end();
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).completed, (await at.read(id)).failed], [3, 1]);
});

Deno.test("vendors' batches: the inputs of lines are a limit, too, of vendors that have one", async () => {
  await using at = await openBatchStage(() => ({}));
  at.vendor.limits = { lines: 50, bytes: 1_000_000, inputs: 6 };
  const id = await at.create(["aaa", "bbb", "cc", "dddd", "e"], true);
  await at.run();
  assertEquals(at.vendor.made.map(({ ids }) => ids.length), [2, 2, 1]);
  at.vendor.end();
  await at.runToEnd(id);
  assertEquals((await at.read(id)).completed, 5);
});

Deno.test("vendors' batches: a create with an unknown outcome is sent again only if the vendor never lists it", async () => {
  await using at = await openBatchStage(() => ({}));
  at.vendor.onCreate = () => {
    at.vendor.onCreate = null;
    throw at.vendor.failure("unknown");
  };
  const id = await at.create(["one"], true);
  const startedAt = at.clock.now();
  await at.run();
  assertEquals(at.vendor.made.length, 0);
  for (let turn = 0; turn < 500 && at.vendor.made.length === 0; turn++) {
    const [due = 0] = await at.store.jobDueTimes("batch_run", [id]);
    at.clock.advance(Math.max(0, (due ?? 0) - at.clock.now()));
    await at.run();
  }
  assertEquals(at.clock.now() - startedAt >= 120_000, true, "it was sent again while the vendor may have it");
  at.vendor.end();
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).completed, at.vendor.made.length], [1, 1]);
});

Deno.test("vendors' batches: a create that the vendor has is found by its name after a lost answer", async () => {
  await using at = await openBatchStage(() => ({}));
  at.vendor.onCreated = () => {
    throw at.vendor.failure("unknown");
  };
  const id = await at.create(["one"], true);
  await at.run();
  at.vendor.end();
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).completed, at.vendor.made.length], [1, 1]);
});

Deno.test("vendors' batches: a worker that was stopped in its create does not settle, and the next one finds it", async () => {
  await using at = await openBatchStage(() => ({}));
  const gate = Promise.withResolvers<void>();
  const create = at.vendor.create.bind(at.vendor);
  let isFirst = true;
  at.vendor.create = async (order) => {
    const id = await create(order);
    if (isFirst) {
      isFirst = false;
      await gate.promise;
    }
    return id;
  };
  const id = await at.create(["one", "two"], true);
  const late = at.run();
  await until(() => at.vendor.made.length === 1);
  at.clock.stall(31_000); // the lease ends, as if the process were stopped
  await at.runElsewhere();
  gate.resolve();
  await late;
  at.vendor.end();
  await at.runToEnd(id, true);
  assertEquals([(await at.read(id)).completed, at.vendor.made.length], [2, 1]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 2n * VENDOR_COST, held: 0n });
});

Deno.test("vendors' batches: a process that ends among the results goes on with the others, and charges none twice", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(texts(50), true);
  await at.run();
  at.vendor.end();
  let read = 0;
  at.vendor.onResult = () => {
    if (++read === 20) at.runs.stop();
  };
  const [due = 0] = await at.store.jobDueTimes("batch_run", [id]);
  at.clock.advance(Math.max(0, (due ?? 0) - at.clock.now()));
  await at.run();
  const { status, completed } = await at.read(id);
  assertEquals([status, completed > 0 && completed < 50], ["in_progress", true], String(completed));
  await at.runToEnd(id, true);
  assertEquals([(await at.read(id)).completed, at.vendor.made.length], [50, 1]);
  const entries = await at.store.ledger("demo", { limit: 200 });
  assertEquals(entries.filter(({ operation }) => operation === "charge").length, 50);
  assertEquals((await verifyLedger(at.store)).differences, []);
});

Deno.test("vendors' batches: results that take longer than a run are read on from where it stopped", async () => {
  for (const hasParts of [true, false]) {
    await using at = await openBatchStage(() => ({}));
    at.vendor.hasParts = hasParts;
    const id = await at.create(texts(50), true);
    await at.run();
    at.vendor.end();
    let results = 0;
    at.vendor.onResult = () => {
      // The time of each run is over after eight results.
      if (++results % 8 === 0) at.clock.advance(300_000);
      if (results > 500) throw new Error("The results are read again and again");
    };
    await at.runToEnd(id);
    const { completed, cost } = await at.read(id);
    assertEquals([completed, cost], [50, 50n * VENDOR_COST]);
    const { reads } = at.vendor;
    assertEquals([reads[0], reads.every((from, index) => index === 0 || from > (reads[index - 1] ?? 0))], [0, true]);
    assertEquals(hasParts ? results <= 60 : reads.length <= 5, true, `${results} results in ${reads.length} reads`);
    const entries = await at.store.ledger("demo", { limit: 200 });
    assertEquals(entries.filter(({ operation }) => operation === "charge").length, 50);
  }
});

Deno.test("vendors' batches: results whose connection is cut again and again are read as long as lines arrive", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(texts(50), true);
  await at.run();
  at.vendor.end();
  let results = 0;
  at.vendor.onResult = () => {
    if (++results % 8 === 0) throw at.vendor.failure("unknown");
  };
  await at.runToEnd(id);
  assertEquals((await at.read(id)).completed, 50);
  assertEquals(at.vendor.reads.length > 4, true, String(at.vendor.reads));
});

Deno.test("vendors' batches: the end of the window reaches the vendor, and what it had answered is charged", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(texts(10), true);
  await at.run();
  at.clock.advance(24 * HOUR_MS);
  await at.run();
  assertEquals([(await at.read(id)).status, at.vendor.cancelled], ["in_progress", ["v1"]]);
  at.vendor.answered = (ids) => ids.slice(0, 4);
  at.vendor.end();
  await at.runToEnd(id);
  const { status, completed, failed, outputFileId, errorFileId } = await at.read(id);
  assertEquals([status, completed, failed], ["expired", 4, 0]);
  assertEquals((await at.linesOf(outputFileId)).length, 4);
  assertEquals((await at.linesOf(errorFileId)).map(({ error }) => error.code), Array(6).fill("batch_expired"));
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 4n * VENDOR_COST, held: 0n });
});

Deno.test("vendors' batches: a cancelled batch waits for its vendor, but not forever", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(texts(3), true);
  await at.run();
  await at.batches.cancel(at.keyId, id);
  const cancelledAt = at.clock.now();
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).status, at.vendor.cancelled], ["cancelled", ["v1"]]);
  const waitedMs = at.clock.now() - cancelledAt;
  assertEquals(waitedMs >= HOUR_MS && waitedMs < 1.1 * HOUR_MS, true, String(waitedMs));
  assertEquals(await at.store.balance("demo"), { available: 1_000n, held: 0n });
});

Deno.test("vendors' batches: a batch that is cancelled before it was sent is not sent", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(texts(3), true);
  await at.batches.cancel(at.keyId, id);
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).status, at.vendor.made.length], ["cancelled", 0]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n, held: 0n });
});

Deno.test("vendors' batches: lines without a result fail after further looks, and cost nothing", async () => {
  await using at = await openBatchStage(() => ({}));
  at.vendor.answered = (ids) => [...ids.slice(1), ...ids.slice(1), "another-1"];
  const id = await at.create(texts(3), true);
  await at.run();
  at.vendor.end();
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).completed, (await at.read(id)).failed], [2, 1]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 2n * VENDOR_COST, held: 0n });
});

Deno.test("vendors' batches: a failure beside other lines ends the run only when these are settled", async () => {
  const gate = Promise.withResolvers<void>();
  await using at = await openBatchStage(async () => {
    await gate.promise;
    return {};
  });
  at.vendor.onCreate = () => {
    at.vendor.onCreate = null;
    throw new Error("the storage is away");
  };
  const id = await at.create(["own", "theirs"], (text) => text === "theirs");
  let isOver = false;
  const failing = at.run().catch(() => {}).finally(() => isOver = true);
  await until(() => at.stage.ran.length === 1 && at.vendor.onCreate === null);
  await at.read(id);
  assertEquals(isOver, false, "the run ended with a line under way");
  gate.resolve();
  await failing;
  at.clock.stall(31_000); // the lease ends
  at.vendor.onCreated = () => at.vendor.end();
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).completed, at.stage.ran], [2, ["own"]]);
});

Deno.test("vendors' batches: what the gateway cannot write or take for now waits, and is charged when it can", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(texts(3), true);
  at.stage.isFull = true;
  await at.run();
  assertEquals([(await at.read(id)).failed, at.vendor.made.length], [0, 0]);
  at.stage.isFull = false;
  at.stage.refused = 5;
  at.vendor.onCreated = () => at.vendor.end();
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).completed, at.vendor.made.length], [3, 1]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 3n * VENDOR_COST, held: 0n });
});

Deno.test("vendors' batches: results without an end or a line are left when the run ends", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(["one"], true);
  await at.run();
  at.vendor.end();
  let chunks = 0;
  const endless = async function* () {
    while (chunks < 5_000) {
      if (++chunks === 10) at.runs.stop();
      yield await Promise.resolve(new TextEncoder().encode("x".repeat(1_000)));
    }
  };
  at.vendor.results = () => Promise.resolve({ from: 0, chunks: endless() });
  const [due = 0] = await at.store.jobDueTimes("batch_run", [id]);
  at.clock.advance(Math.max(0, (due ?? 0) - at.clock.now()));
  await at.run();
  assertEquals([chunks < 20, (await at.read(id)).failed], [true, 0], String(chunks));
});

Deno.test("vendors' batches: a vendor that neither answers a create nor lists the batch gets it a few times at most", async () => {
  await using at = await openBatchStage(() => ({}));
  at.vendor.isListed = false;
  const { create } = at.vendor;
  at.vendor.create = async (order) => {
    await create.call(at.vendor, order);
    throw at.vendor.failure("unknown");
  };
  const id = await at.create(["one"], true);
  await at.runToEnd(id);
  const { status, failed } = await at.read(id);
  assertEquals([status, failed, at.vendor.made.length], ["completed", 1, 5]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n, held: 0n });
});
