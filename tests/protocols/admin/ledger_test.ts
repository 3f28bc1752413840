import { assertEquals } from "@std/assert";
import { addHold, captureHold, readHold } from "../../../src/money/billing/hold.ts";
import { NO_USAGE } from "../../../src/conversation/neutral/usage.ts";
import { openTestAdmin } from "./support.ts";
import { unlimitedKey } from "../../support/callers.ts";

Deno.test("GET …/ledger lists entries as decimal strings, charges with their requests", async () => {
  const { call, meter, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "1" });
  const usage = { ...NO_USAGE, freshTokens: 7, cacheWrite5mTokens: 2, outputTokens: 3 };
  const charge = {
    requestId: "req_1",
    keyId: "key_1",
    kind: "text" as const,
    model: "acme/large",
    provider: "acme",
    usage,
  };
  await (await meter.admit(unlimitedKey("acme"), 1n)).charge({ ...charge, amount: 1_000n });
  const { data, next } = (await call("GET", "/acme/ledger")).body;
  assertEquals(next, null);
  assertEquals([data[0].operation, data[0].reference, data[0].balance], ["credit", "opening", "1.0000000000"]);
  const { id: _, reference: __, ...line } = data[1];
  assertEquals(line, {
    created_at: clock.now() / 1000,
    operation: "charge",
    balance: "-0.0000001000",
    held: "0.0000000000",
    requests: [{
      request_id: "req_1",
      created_at: clock.now() / 1000,
      key: "key_1",
      kind: "text",
      model: "acme/large",
      provider: "acme",
      cost: "0.0000001000",
      usage: { fresh_tokens: 7, cache_write_5m_tokens: 2, output_tokens: 3 },
    }],
  });
});

Deno.test("GET …/ledger lists a hold and its capture with their details", async () => {
  const { call, store } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "1" });
  const hold = { account: "acme", reference: "task-1", amount: 60n };
  await store.commit(null, addHold({}, hold, store.now()));
  const read = (await readHold(store, "task-1"))!;
  await store.commit(null, captureHold({}, read, 61n, store.now(), { model: "acme/video" }).commit);
  const { data } = (await call("GET", "/acme/ledger?order=desc&limit=2")).body;
  const [capture, held] = data;
  assertEquals([held.operation, held.balance, held.held], ["hold", "-0.0000000060", "0.0000000060"]);
  assertEquals([capture.operation, capture.balance, capture.held], ["capture", "0.0000000000", "-0.0000000060"]);
  assertEquals(capture.detail, { model: "acme/video", underpriced: "0.0000000001" });
});

Deno.test("GET …/ledger continues after an entry and rejects an invalid order", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "1" });
  await call("POST", "/acme/credit", { amount: "2", reference: "invoice-1" });
  const first = (await call("GET", "/acme/ledger?limit=1")).body;
  const second = (await call("GET", `/acme/ledger?limit=1&after=${first.next}`)).body;
  assertEquals([second.data[0].reference, second.next], ["invoice-1", null]);
  assertEquals((await call("GET", "/acme/ledger?order=up")).body.error.field, "order");
});
