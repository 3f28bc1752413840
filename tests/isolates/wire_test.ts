import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { unobservedRecord } from "../support/unobserved_record.ts";
import type { FromServing, ToServing } from "../../src/threads/serving/messages.ts";
import { readMessages, writeMessages } from "../../src/threads/serving/wire.ts";

const money = fc.bigInt({ min: 0n, max: 10n ** 30n });
const id = fc.nat();
const text = fc.string({ unit: "binary" });
const limits = fc.record({
  rpm: fc.nat(),
  models: fc.array(text),
  budget: fc.record({ amount: money, per: fc.constantFrom("day", "total") }),
}, { requiredKeys: [] });
const caller = fc.record({
  keyId: text,
  accountId: text,
  limits: fc.option(fc.record({ key: limits, account: limits })),
});
const failure = fc.record({
  kind: fc.constant("upstream"),
  provider: text,
  failure: fc.constant("unavailable"),
  message: text,
  facts: fc.record({ status: fc.option(fc.nat(599)), accepted: fc.constantFrom("no", "unknown") }),
});
const charge = fc.record({
  requestId: text,
  keyId: fc.option(text),
  kind: fc.constant("text"),
  model: text,
  provider: text,
  amount: money,
  usage: fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat() }),
  cacheSaved: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
}, { requiredKeys: ["requestId", "keyId", "kind", "model", "provider", "amount", "usage"] });
const call = fc.oneof(
  fc.record({
    name: fc.constant("admit"),
    caller,
    reserved: fc.record({ amount: money, outputLimit: fc.option(fc.nat()), tokens: fc.nat() }),
  }),
  fc.record({ name: fc.constant("admit-free"), caller }),
  fc.record({ name: fc.constant("rates-left"), caller }),
  fc.record({ name: fc.constant("charge"), admission: id, charge }),
  fc.record({
    name: fc.constant("slot"),
    provider: text,
    accountId: text,
    tokens: fc.nat(),
    mayWait: fc.boolean(),
  }),
);
const tariff = fc.dictionary(fc.constantFrom("prompt", "completion", "image"), money);
const facts = fc.record({
  cost: fc.option(money),
  reserved: fc.option(fc.record({ amount: money })),
  charged: fc.array(fc.record({ quantities: fc.dictionary(fc.constantFrom("prompt"), fc.nat()), tariff })),
  model: fc.option(text),
  cacheSaved: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
}, { requiredKeys: ["cost", "reserved", "charged", "model"] }).map((some) => ({
  ...unobservedRecord().facts(),
  ...some,
}));
const arrival = unobservedRecord().arrival;
const outcome = { trace: null, endpoint: null, status: 200, code: null, message: null, refusal: null, respondedAt: 1 };
const message = fc.oneof(
  call.map((what) => ({ type: "call", call: 1, request: null, what })),
  facts.map((some) => ({ type: "record", arrival, facts: some, outcome, bodies: null })),
  fc.record({ type: fc.constant("release"), admission: id, tokens: fc.nat() }),
  fc.record({ type: fc.constant("end-slot"), slot: id, usedTokens: fc.nat() }),
  fc.record({ type: fc.constant("attempted"), attempt: id, failure: fc.option(failure) }),
  fc.record({ type: fc.constant("overdrawn"), admission: id }),
  fc.record({ type: fc.constant("result"), call: id, value: fc.constantFrom(null, 7) }),
  fc.record({
    type: fc.constant("result"),
    call: id,
    value: fc.record({ admission: fc.option(id), rates: fc.constant(null) }),
  }),
  fc.record({ type: fc.constant("result"), call: id, failure }),
) as fc.Arbitrary<FromServing | ToServing>;

Deno.test("messages of isolates survive as text, with exact amounts", () => {
  fc.assert(fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
    const posted = writeMessages(messages);
    assert(typeof posted === "string");
    assertEquals(bare(readMessages(posted)), bare(messages));
  }));
});

Deno.test("messages of isolates that do not fit JSON are posted as they are, together with the others", () => {
  const bytes = new Uint8Array([1, 2]);
  for (
    const odd of [
      { type: "result", call: 1, value: { available: 5n } },
      { type: "result", call: 1, value: [{ value: bytes }] },
      { type: "call", call: 1, request: null, what: { name: "store", method: "balance", args: ["demo"] } },
      { type: "keep-item", key: "a", value: "b", characters: 1 },
      { type: "log", level: "info", event: "started", fields: { count: 1 } },
    ] as (FromServing | ToServing)[]
  ) {
    const messages = [{ type: "overdrawn", admission: 1 }, odd] as const;
    const posted = writeMessages(messages);
    assertEquals(posted, messages);
    assertEquals(readMessages(posted), messages);
  }
});

/** Without the prototypes that fast-check gives some records. */
function bare(messages: readonly unknown[]): unknown {
  return structuredClone(messages);
}
