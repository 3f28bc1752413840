import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { LimitedCaller } from "../../src/money/limits/limited_caller.ts";
import { itemAt } from "../support/items.ts";
import { meterStage } from "./stage.ts";

Deno.test("a thread checks a request that costs nothing by the limits of rate, and takes nothing", async () => {
  const { threads } = await meterStage(0n, 1);
  const { meter } = itemAt(threads, 0);
  const caller: LimitedCaller = { keyId: "key_1", accountId: "acme", limits: { key: { rpm: 1 }, account: {} } };
  for (let check = 0; check < 3; check++) {
    assertEquals(await meter.probe(caller, null), { amount: 0n, outputLimit: null });
  }
  const admission = await meter.admitFree(caller);
  admission.release();
  await assertRejects(async () => await meter.probe(caller, null), GatewayError, "Rate limit exceeded");
});
