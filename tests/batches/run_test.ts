import { assert, assertEquals, assertRejects } from "@std/assert";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { until } from "../support/manual_clock.ts";
import { openBatchStage } from "./stage.ts";

const HOUR_MS = 3_600_000;
const texts = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`);

Deno.test("batches: every line is run once and charged once, and the rest of the hold is released", async () => {
  await using at = await openBatchStage((text) => ({ cost: text === "line 3" ? 0n : 3n }));
  const id = await at.create(texts(20));
  assertEquals(await at.store.balance("demo"), { available: 800n, held: 200n });
  await at.run();
  const { status, completed, failed, cost, outputFileId, errorFileId } = await at.read(id);
  assertEquals([status, completed, failed, cost, errorFileId], ["completed", 20, 0, 57n, null]);
  assertEquals(await at.store.balance("demo"), { available: 943n, held: 0n });
  assertEquals(at.stage.ran.toSorted(), texts(20).toSorted());
  assertEquals((await at.linesOf(outputFileId)).map((line) => line.custom_id).sort(), texts(20).toSorted());
  const entries = await at.store.ledger("demo", { limit: 100 });
  assertEquals(entries.filter(({ operation }) => operation === "charge").length, 19);
  assertEquals((await verifyLedger(at.store)).differences, []);
});

Deno.test("batches: a line that costs more than its part is charged in full", async () => {
  await using at = await openBatchStage(() => ({ cost: 25n }));
  await at.create(["one", "two"]);
  await at.run();
  assertEquals(await at.store.balance("demo"), { available: 950n, held: 0n });
});

Deno.test("batches: a worker whose job another one has settles nothing any more", async () => {
  const gate = Promise.withResolvers<void>();
  let isFirst = true;
  await using at = await openBatchStage(async () => {
    if (isFirst) await gate.promise;
    return {};
  });
  const id = await at.create(["one"]);
  const late = at.run();
  await until(() => at.stage.ran.length === 1);
  isFirst = false;
  at.clock.stall(31_000); // the lease ends, as if the process were stopped
  await at.run();
  gate.resolve();
  await late;
  assertEquals([(await at.read(id)).status, (await at.read(id)).completed], ["completed", 1]);
  assertEquals(await at.store.balance("demo"), { available: 997n, held: 0n });
});

Deno.test("batches: a failed line is tried again, as often as its status deserves", async () => {
  const tries = new Map<string, number>();
  await using at = await openBatchStage((text) => {
    const count = (tries.get(text) ?? 0) + 1;
    tries.set(text, count);
    const [kind = "", limit = "0"] = text.split(" ");
    return count <= Number(limit) ? { status: Number(kind) } : {};
  });
  const id = await at.create(["429 6", "503 5", "500 2", "502 9", "400 1"]);
  const running = at.run();
  let isOver = false;
  running.finally(() => isOver = true);
  await until(() => {
    at.clock.advance(1_000);
    return isOver;
  });
  const { completed, failed, errorFileId } = await at.read(id);
  assertEquals([completed, failed], [3, 2]);
  const errors = (await at.linesOf(errorFileId)).map((line) => [line.custom_id, line.response.status_code]);
  assertEquals(errors.sort(), [["400 1", 400], ["502 9", 502]]);
  assertEquals([tries.get("502 9"), tries.get("400 1")], [4, 1]);
});

Deno.test("batches: lines that the window leaves are in the error file, and cost nothing", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(["one", "two"]);
  at.clock.advance(24 * HOUR_MS);
  await at.run();
  const { status, errorFileId } = await at.read(id);
  assertEquals([status, at.stage.ran], ["expired", []]);
  const errors = await at.linesOf(errorFileId);
  assertEquals(errors.map(({ custom_id, error }) => [custom_id, error.code]), [
    ["one", "batch_expired"],
    ["two", "batch_expired"],
  ]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n, held: 0n });
});

Deno.test("batches: lines do not begin while many answered ones are not durable", async () => {
  await using at = await openBatchStage(() => ({ cost: 0n }), 0n);
  const id = await at.create(texts(400));
  const gate = Promise.withResolvers<void>();
  const commit = at.store.commit.bind(at.store);
  at.store.commit = async (operation, change) => {
    if (change.set?.some(({ key }) => key[1] === "reply")) await gate.promise;
    return await commit(operation, change);
  };
  const running = at.run();
  await until(() => at.stage.ran.length > 16);
  for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  const begun = at.stage.ran.length;
  gate.resolve();
  await running;
  assertEquals((await at.read(id)).completed, 400);
  assert(begun < 100, `${begun} lines had begun`);
});

Deno.test("batches: no line begins while interactive requests wait for a provider", async () => {
  await using at = await openBatchStage(() => ({}));
  await at.create(["one"]);
  at.stage.isBusy = true;
  const running = at.run();
  await until(() => at.clock.waiting >= 3);
  at.clock.advance(5_000);
  assertEquals(at.stage.ran, []);
  at.stage.isBusy = false;
  let isOver = false;
  running.finally(() => isOver = true);
  await until(() => {
    at.clock.advance(1_000);
    return isOver;
  });
  assertEquals(at.stage.ran, ["one"]);
});

Deno.test("batches: a run that stops goes on with the other lines later", async () => {
  await using at = await openBatchStage((text) => {
    if (text === "line 0") at.runs.stop();
    return {};
  });
  const id = await at.create(texts(30));
  await at.run();
  const { status, completed } = await at.read(id);
  assertEquals([status, completed < 30], ["in_progress", true]);
  await at.runElsewhere();
  assertEquals([(await at.read(id)).status, (await at.read(id)).completed], ["completed", 30]);
  assertEquals(at.stage.ran.toSorted(), texts(30).toSorted());
});

Deno.test("batches: each line of a cancelled batch is in one of its files, and only answered lines cost something", async () => {
  let cancelled: Promise<unknown> | null = null;
  await using at = await openBatchStage((text) => {
    if (text === "line 9") cancelled ??= at.batches.cancel(at.keyId, id);
    return {};
  });
  const id = await at.create(texts(40));
  await at.run();
  await cancelled;
  const { status, completed, outputFileId, errorFileId } = await at.read(id);
  assertEquals([status, completed >= 9 && completed < 40], ["cancelled", true]);
  const answered = (await at.linesOf(outputFileId)).map((line) => line.custom_id);
  const left = (await at.linesOf(errorFileId)).map((line) => line.custom_id);
  assertEquals([answered.length, left.length], [completed, 40 - completed]);
  assertEquals([...answered, ...left].sort(), texts(40).toSorted());
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 3n * BigInt(completed), held: 0n });
});

Deno.test("batches: a long reply is a content, and what only the run needed is removed at the end", async () => {
  const long = "x".repeat(100_000);
  await using at = await openBatchStage((text) => ({ text: text === "one" ? long : text }));
  const id = await at.create(["one", "two"]);
  await at.run();
  const { outputFileId } = await at.read(id);
  const replies = (await at.linesOf(outputFileId)).map((
    { custom_id, response },
  ) => [custom_id, response.body.reply.length]);
  assertEquals(replies.sort(), [["one", 100_000], ["two", 3]]);
  assertEquals(at.names().filter((name) => name.startsWith("batch-")).length, 2);
  await at.clean();
  assertEquals(at.names(), [`${outputFileId}.bin`]);
  for (const part of ["settled", "reply"]) {
    assertEquals(await at.store.scan(["batch", part, id], { limit: 10 }), []);
  }
});

Deno.test("batches: an ended batch is removed after its retention, and with its account", async () => {
  await using at = await openBatchStage(() => ({}));
  const first = await at.create(["one"]);
  await at.run();
  at.clock.advance(24 * HOUR_MS);
  const second = await at.create(["two"]);
  assertEquals(await at.sweep(), false);
  assertEquals((await at.batches.list(at.keyId, { after: null, limit: 9 })).batches.map(({ id }) => id), [second]);
  assertEquals(await at.erase(), 0); // it is open
  await at.run();
  assertEquals(await at.erase(), 1);
  assertEquals(await at.store.scan(["batch"], { limit: 10 }), []);
  assertEquals(await at.store.scan(["billing", "hold"], { limit: 10 }), []);
  assertEquals(first < second, true);
});

Deno.test("batches: the lines of two creates of an account are read at a time, and the others in turn", async () => {
  await using at = await openBatchStage(() => ({}));
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const lines = async function* (text: string) {
    begun++;
    await gate.promise;
    yield new TextEncoder().encode(JSON.stringify({ custom_id: text, body: { text } }));
  };
  const created = texts(5).map((text) => at.createWith([], { lines: lines(text) }));
  await until(() => begun === 2);
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  assertEquals(begun, 2);
  gate.resolve();
  assertEquals(new Set(await Promise.all(created)).size, 5);
});

Deno.test("batches: lines take room of their account until their batch ends", async () => {
  await using at = await openBatchStage(() => ({ text: "" }));
  at.stage.maxBytes = 4_500;
  const id = await at.create(["a", "b", "c"].map((text) => text.repeat(400))); // 2,469 bytes as they are stored
  const create = () => at.createWith(["two"], { lineBytes: 2_500 });
  const failure = await assertRejects(create, GatewayError);
  assertEquals([failure.code, failure.details.field], ["invalid_request", "requests"]);
  await at.run();
  await at.stored.remove(at.keyId, (await at.read(id)).outputFileId ?? "");
  at.clock.advance(60_000); // the sum of the account is read again
  await create();
});

Deno.test("batches: lines that were free at the create are charged if they cost something", async () => {
  await using at = await openBatchStage(() => ({ cost: 3n }), 0n);
  await at.create(["one", "two"]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n, held: 0n });
  await at.run();
  assertEquals(await at.store.balance("demo"), { available: 994n, held: 0n });
  assertEquals((await verifyLedger(at.store)).differences, []);
});

Deno.test("batches: lines that wait for another try leave their permits to other accounts", async () => {
  await using at = await openBatchStage((text) => ({ status: text === "last" ? 200 : 429 }), 10n, 1);
  await at.create(["one", "two", "last"]);
  const running = at.run();
  await until(() => at.stage.ran.includes("last"));
  at.runs.stop();
  let isOver = false;
  running.finally(() => isOver = true);
  await until(() => {
    at.clock.advance(1_000);
    return isOver;
  });
});

Deno.test("a run that has ended looks at its batch no more, also if it was just looking", async () => {
  const looking = Promise.withResolvers<void>();
  let isArmed = false;
  await using stage = await openBatchStage(() => {
    isArmed = true;
    stage.clock.advance(1_000);
    return {};
  });
  const get = stage.store.get.bind(stage.store);
  Object.assign(stage.store, {
    get: async (keys: Parameters<typeof get>[0]) => {
      if (isArmed) {
        isArmed = false;
        await looking.promise;
      }
      return await get(keys);
    },
  });
  await stage.create(["a"]);
  await stage.run();
  assertEquals(isArmed, false, "the run did not look");
  looking.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(stage.clock.waiting, 0);
});

Deno.test("batches: many batches of one account that wait for its others take little of the store", async () => {
  const gate = Promise.withResolvers<void>();
  await using at = await openBatchStage(async () => {
    await gate.promise;
    return {};
  }, 1n);
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) ids.push(await at.create(["one"]));
  const running = [at.run(), at.run(), at.run(), at.run()];
  await until(() => at.stage.ran.length === 4);
  for (let n = 4; n < 60; n++) await at.run();
  const dues = await at.store.jobDueTimes("batch_run", ids);
  const latest = Math.max(...dues.map((due) => due ?? 0));
  assertEquals(latest - at.clock.now() >= 15_000, true, String(latest - at.clock.now()));
  assertEquals((await at.read(ids[59] ?? "")).epoch, 0, "a batch that waits was written");
  gate.resolve();
  await Promise.all(running);
});

Deno.test("batches: a create whose commit lost its answer keeps the lines, since the batch may exist", async () => {
  await using at = await openBatchStage(() => ({}));
  const commit = at.store.commit.bind(at.store);
  at.store.commit = async (operation, change) => {
    const result = await commit(operation, change);
    if (change.addJobs?.some(({ kind }) => kind === "batch_run")) throw new Error("The connection was lost");
    return result;
  };
  await assertRejects(() => at.create(["one"]), Error, "lost");
  at.store.commit = commit;
  await at.run();
  assertEquals(at.stage.ran, ["one"]);
  assertEquals(await at.store.balance("demo"), { available: 997n, held: 0n });
});
