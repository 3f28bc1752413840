import { assertEquals } from "@std/assert";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openBatchStage } from "./stage.ts";

const DAY_MS = 86_400_000;

/** Runs the job of a batch that was tried so often. It may fail. */
async function runAt(at: Awaited<ReturnType<typeof openBatchStage>>, attempt: number): Promise<void> {
  const [job] = await at.store.claim(["batch_run"], 1, 30_000);
  if (job === undefined) throw new Error("No job is due");
  await at.store.commit(null, { postponeJobs: [{ job, dueAt: at.store.now(), attempt }] });
  await at.run().catch(() => {});
  at.clock.stall(31_000); // the lease of a job that failed ends
}

Deno.test("batches: results without room are tried until a day after the window, and then the batch has failed", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(["one", "two"]);
  at.stored.write = () => Promise.reject(new GatewayError("storage_unavailable", "there is no room for files"));
  await runAt(at, 20);
  assertEquals((await at.read(id)).status, "finalizing");
  at.clock.advance(2 * DAY_MS);
  await runAt(at, 1); // the gateway was off until now
  assertEquals((await at.read(id)).status, "finalizing");
  await runAt(at, 20);
  const { status, errors, completed, cost } = await at.read(id);
  assertEquals([status, errors[0]?.code, completed, cost], ["failed", "storage_unavailable", 2, 6n]);
  assertEquals(await at.store.balance("demo"), { available: 994n, held: 0n });
  assertEquals((await verifyLedger(at.store)).differences, []);
});

Deno.test("batches: the hold of a batch whose lines were lost is released in the end", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(["one", "two"], true);
  for (const name of at.names()) if (name.startsWith("batch-")) await Deno.remove(`${at.folder}/${name}`);
  await runAt(at, 20);
  assertEquals((await at.store.balance("demo")).held, 20n);
  at.clock.advance(2 * DAY_MS);
  await runAt(at, 20);
  assertEquals([(await at.read(id)).status, (await at.store.balance("demo")).held], ["failed", 0n]);
});
