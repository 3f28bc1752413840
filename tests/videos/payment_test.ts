import { assertEquals } from "@std/assert";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { readMoney, writeMoney } from "../../src/platform/lib/basics/money.ts";
import type { VideoConsumption } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { DONE, openStage, type Stage } from "./stage.ts";
import { unlimitedKey } from "../support/callers.ts";

/** A stage whose vendor reports this for every video. The order costs 0.50, and the model's maximum is 60 s. */
async function reporting(consumption: VideoConsumption, balance: string) {
  const lines: Record<string, unknown>[] = [];
  const stage = await openStage(jsonLog("debug", (line) => void lines.push(JSON.parse(line))));
  stage.vendor.progress = () => ({ ...DONE, consumption } as typeof DONE);
  await leave(stage, balance);
  return { stage, underpriced: () => lines.filter(({ event }) => event === "underpriced").map(({ cost }) => cost) };
}

async function leave({ store, meter }: Stage, balance: string): Promise<void> {
  const available = readMoney(balance) - (await store.balance("demo")).available;
  await store.commit(null, {
    changeBalances: [{ account: "demo", available, held: 0n }],
    ledgerEntries: [{ account: "demo", operation: "adjust", reference: `leave ${balance}`, available, held: 0n }],
  });
  meter.invalidate("demo");
}

async function runToEnd({ clock, runDue }: Stage): Promise<void> {
  await runDue(["video_submit"]);
  clock.advance(20_000);
  await runDue(["video_poll"]);
}

Deno.test("a cost above the hold is charged without using the reservations of open requests", async () => {
  const { stage, underpriced } = await reporting({ seconds: 9, costUsd: null }, "0.90");
  const id = await stage.create();
  const call = await stage.meter.admit(unlimitedKey("demo"), readMoney("0.30"));
  await runToEnd(stage);
  const { usage } = await stage.read(id);
  assertEquals([usage.video_seconds, usage.video_cost], [9, "0.6000000000"]);
  assertEquals(await stage.store.balance("demo"), { available: readMoney("0.30"), held: 0n });
  assertEquals(underpriced(), ["0.3000000000"]);
  await call.charge({
    requestId: "r",
    keyId: "key_1",
    kind: "text",
    model: "m",
    provider: "p",
    amount: readMoney("0.30"),
  });
  assertEquals((await stage.store.balance("demo")).available, 0n);
});

Deno.test("the reservation for a cost above the hold is released after the charge", async () => {
  const { stage, underpriced } = await reporting({ seconds: 9, costUsd: null }, "2.00");
  await stage.create();
  await runToEnd(stage);
  (await stage.meter.admit(unlimitedKey("demo"), readMoney("1.10"))).release();
  assertEquals(underpriced(), []);
});

Deno.test("a video does not increase the debt of an overdrawn account: only the hold is captured", async () => {
  const { stage, underpriced } = await reporting({ seconds: 9, costUsd: null }, "0.50");
  const id = await stage.create();
  const charge = {
    requestId: "r",
    keyId: "key_1",
    kind: "text",
    model: "m",
    provider: "p",
    amount: readMoney("0.20"),
  } as const;
  await leave(stage, "0.01");
  await (await stage.meter.admit(unlimitedKey("demo"), 0n)).charge(charge);
  await runToEnd(stage);
  assertEquals((await stage.read(id)).usage.video_cost, "0.5000000000");
  assertEquals(await stage.store.balance("demo"), { available: readMoney("-0.19"), held: 0n });
  assertEquals(underpriced(), ["0.4000000000"]);
});

Deno.test("a vendor cost above the price is logged as underpriced, and the price is charged", async () => {
  const { stage, underpriced } = await reporting({ seconds: 5, costUsd: "0.71" }, "2.00");
  const id = await stage.create();
  await runToEnd(stage);
  assertEquals((await stage.read(id)).usage.video_cost, "0.5000000000");
  assertEquals(underpriced(), ["0.2100000000"]);
});

Deno.test("with many concurrent reports, the balance stays at zero or above and matches its ledger", async () => {
  const { stage } = await reporting({ seconds: 9, costUsd: null }, "6.30");
  const ids = await Promise.all(Array.from({ length: 10 }, () => stage.create()));
  await runToEnd(stage);
  for (let round = 0; round < 10; round++) {
    stage.clock.advance(31_000);
    await stage.runDue(["video_poll"]);
  }
  const costs = await Promise.all(ids.map(async (id) => readMoney((await stage.read(id)).usage.video_cost)));
  assertEquals(writeMoney(costs.reduce((sum, cost) => sum + cost)), "6.3000000000");
  assertEquals(await stage.store.balance("demo"), { available: 0n, held: 0n });
  assertEquals((await verifyLedger(stage.store)).differences, []);
});
