import { assertEquals, assertRejects } from "@std/assert";
import { readPrices } from "../../src/billing/price.ts";
import { type Log, silentLog } from "../../src/lib/log.ts";
import { Settlement } from "../../src/texts/settlement.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { tillOf, USAGE } from "./support.ts";

const facts = {
  requestId: "req_1",
  accountId: "demo",
  model: "acme/m",
  prices: readPrices({ prompt: "0.001", completion: "0.002" }),
  receivedAt: 1_000,
};

Deno.test("Settlement charges once, whatever is called afterwards, and logs what it came to", async () => {
  const till = tillOf();
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, info: (event, fields) => void lines.push([event, fields]) };
  const settlement = new Settlement(facts, till.admission, new ManualClock(3_500), log);
  await settlement.charge("one", { ...USAGE, estimated: true }, "left");
  await settlement.charge("one", USAGE, "completed");
  settlement.release();
  assertEquals([till.charges.length, till.releases], [1, 0]);
  const { requestId, accountId, model } = facts;
  assertEquals(lines, [["turn_charged", {
    requestId,
    accountId,
    model,
    provider: "one",
    state: "left, estimated",
    inputTokens: 12,
    outputTokens: 30,
    cost: "0.0720000000",
    durationMs: 2_500,
  }]]);
});

Deno.test("Settlement releases once, and charges nothing afterwards", async () => {
  const till = tillOf();
  const settlement = new Settlement(facts, till.admission, new ManualClock(), silentLog);
  settlement.release();
  settlement.release();
  await settlement.charge("one", USAGE, "completed");
  assertEquals([till.charges.length, till.releases], [0, 1]);
});

Deno.test("Settlement fails with the charge, and logs none", async () => {
  const till = tillOf();
  till.durable = () => Promise.reject(new Error("lost"));
  const log: Log = { ...silentLog, info: () => assertEquals("logged", "not logged") };
  const settlement = new Settlement(facts, till.admission, new ManualClock(), log);
  await assertRejects(() => settlement.charge("one", USAGE, "completed"), Error, "lost");
});
