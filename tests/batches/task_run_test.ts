import { assert, assertEquals, assertRejects } from "@std/assert";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { TASK_COST } from "./fake_tasks.ts";
import { openBatchStage } from "./stage.ts";

const HOUR_MS = 3_600_000;
const texts = (count: number) => Array.from({ length: count }, (_, n) => `line ${String(n).padStart(3, "0")}`);

/** A batch each of whose lines makes a task. A part of the hold is 10. */
async function openTaskStage() {
  const at = await openBatchStage(() => ({}));
  return Object.assign(at, {
    createTasks: (lines: readonly string[]) => at.createWith(lines, { endpoint: "/v1/videos" }),
    /** The next run, when it is due. */
    async runNext(id: string) {
      const [due = null] = await at.store.jobDueTimes("batch_run", [id]);
      at.clock.advance(Math.max(0, (due ?? 0) - at.clock.now()));
      await at.run();
    },
  });
}

Deno.test("tasks of lines: the money of a line is held once, from its batch to its task, and charged once", async () => {
  await using at = await openTaskStage();
  const id = await at.createTasks(texts(3));
  assertEquals(await at.store.balance("demo"), { available: 970n, held: 30n });
  await at.run();
  assertEquals(await at.tasks.stored(), texts(3));
  assertEquals(await at.store.balance("demo"), { available: 970n, held: 30n });
  assertEquals((await at.read(id)).status, "in_progress");
  await at.tasks.endAll("completed");
  await at.runToEnd(id);
  const { status, completed, cost, outputFileId } = await at.read(id);
  assertEquals([status, completed, cost], ["completed", 3, 3n * TASK_COST]);
  assertEquals((await at.linesOf(outputFileId)).map((line) => [line.custom_id, line.response.body.video]), [
    ...texts(3).map((text) => [text, text]),
  ]);
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 3n * TASK_COST, held: 0n });
  assertEquals((await verifyLedger(at.store)).differences, []);
  assertEquals(await at.store.scan(["batch", "task"], { limit: 9 }), []);
});

for (const moment of ["onAdd", "onAdded"] as const) {
  Deno.test(`tasks of lines: a run that ends ${moment === "onAdd" ? "before" : "after"} the commit of a task leaves each line one task`, async () => {
    await using at = await openTaskStage();
    const id = await at.createTasks(texts(5));
    at.tasks[moment] = (customId) => {
      if (customId !== "line 002") return;
      at.tasks[moment] = () => {};
      throw new Error("The process has ended");
    };
    await assertRejects(() => at.run(), Error, "has ended");
    at.clock.advance(31_000); // the lease of its job
    await at.runElsewhere();
    assertEquals(await at.tasks.stored(), texts(5));
    assertEquals(await at.store.balance("demo"), { available: 950n, held: 50n });
    await at.tasks.endAll("completed");
    await at.runToEnd(id, true);
    assertEquals((await at.read(id)).completed, 5);
    assertEquals(await at.store.balance("demo"), { available: 1_000n - 5n * TASK_COST, held: 0n });
  });
}

Deno.test("tasks of lines: a worker whose batch another one has makes no task any more", async () => {
  await using at = await openTaskStage();
  const id = await at.createTasks(texts(4));
  const stopped = Promise.withResolvers<void>();
  const isThere = Promise.withResolvers<void>();
  at.tasks.onAdd = async (customId) => {
    if (customId !== "line 001") return;
    at.tasks.onAdd = () => {};
    isThere.resolve();
    await stopped.promise;
  };
  const late = at.run();
  await isThere.promise;
  at.clock.stall(31_000); // the lease ends, as if the process were stopped
  await at.runElsewhere();
  stopped.resolve();
  await late;
  assertEquals(await at.tasks.stored(), texts(4));
  assertEquals(await at.store.balance("demo"), { available: 960n, held: 40n });
  await at.tasks.endAll("completed");
  await at.runToEnd(id);
  assertEquals(await at.store.balance("demo"), { available: 1_000n - 4n * TASK_COST, held: 0n });
});

Deno.test("tasks of lines: a cancellation just before the commit of a task wins", async () => {
  await using at = await openTaskStage();
  const id = await at.createTasks(texts(3));
  at.tasks.onAdd = async (customId) => {
    if (customId === "line 001") await at.batches.cancel(at.keyId, id);
  };
  await at.run();
  assertEquals(await at.tasks.stored(), ["line 000"]);
  await at.runToEnd(id);
  const { status, completed, failed, errorFileId } = await at.read(id);
  assertEquals([status, completed, failed], ["cancelled", 0, 0]);
  assertEquals((await at.linesOf(errorFileId)).map(({ error }) => error.code), Array(3).fill("batch_cancelled"));
  assertEquals(at.tasks.cancelled.length, 1);
  assertEquals(await at.store.balance("demo"), { available: 1_000n, held: 0n });
});

Deno.test("tasks of lines: at the end of the window the batch waits for its tasks, whose deadline that is", async () => {
  await using at = await openTaskStage();
  const id = await at.createTasks(texts(2));
  await at.run();
  at.clock.advance(24 * HOUR_MS);
  await at.runNext(id);
  assertEquals((await at.read(id)).status, "in_progress");
  assertEquals(at.tasks.cancelled, []);
  await at.tasks.endAll("expired");
  await at.runToEnd(id);
  const { status, errorFileId } = await at.read(id);
  assertEquals(status, "expired");
  assertEquals((await at.linesOf(errorFileId)).map(({ error }) => error.code), Array(2).fill("batch_expired"));
  assertEquals(await at.store.balance("demo"), { available: 1_000n, held: 0n });
});

Deno.test("tasks of lines: at most fifty are open, and others begin when some have ended", async () => {
  await using at = await openTaskStage();
  const id = await at.createTasks(texts(70));
  await at.run();
  await at.runNext(id);
  assertEquals((await at.tasks.stored()).length, 50);
  await at.tasks.endAll("completed");
  await at.runNext(id);
  assertEquals((await at.tasks.stored()).length, 70);
  await at.tasks.endAll("completed");
  await at.runToEnd(id);
  assertEquals([(await at.read(id)).completed, await at.tasks.stored()], [70, texts(70)]);
});

Deno.test("tasks of lines: a line that is refused for now begins later, and one that is refused for good costs nothing", async () => {
  await using at = await openTaskStage();
  const body = new TextEncoder().encode("{}");
  let tries = 0;
  at.tasks.refuse = (customId) => {
    if (customId === "line 000") return { requestId: "r", status: 400, body, charge: null };
    return customId === "line 001" && ++tries <= 2 ? { requestId: "r", status: 429, body, charge: null } : null;
  };
  const id = await at.createTasks(texts(3));
  await at.run();
  assertEquals([await at.tasks.stored(), await at.store.balance("demo")], [[], { available: 980n, held: 20n }]);
  await at.runNext(id);
  await at.runNext(id);
  assertEquals(await at.tasks.stored(), ["line 001", "line 002"]);
  assert(tries >= 3);
  await at.tasks.endAll("completed");
  await at.runToEnd(id);
  const { completed, failed } = await at.read(id);
  assertEquals([completed, failed], [2, 1]);
});
