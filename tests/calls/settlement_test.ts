import { assertEquals, assertRejects } from "@std/assert";
import { readTariff } from "../../src/billing/tariff.ts";
import { textQuantitiesOf } from "../../src/billing/text_quantities.ts";
import { type CallCharge, type CallFacts, type EndState, Settlement } from "../../src/calls/settlement.ts";
import type { Model } from "../../src/catalog/model.ts";
import type { Usage } from "../../src/conversation/usage.ts";
import { type Log, silentLog } from "../../src/lib/log.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { type AdmissionRecorder, admissionRecorder, USAGE } from "../texts/support.ts";

const tariff = readTariff({ prompt: "0.001", completion: "0.002" });
const model = { id: "acme/m", tariff } as Model;
const facts: CallFacts = {
  kind: "text",
  requestId: "req_1",
  accountId: "demo",
  keyId: "key_1",
  model,
  receivedAt: 1_000,
};
const meter = { invalidate() {} };

function chargeOf(usage: Usage, state: EndState = "completed"): CallCharge {
  return { provider: "one", state, parts: [{ quantities: textQuantitiesOf(usage), tariff }], usage };
}

function settlementOf(recorder: AdmissionRecorder, log: Log = silentLog): Settlement {
  return new Settlement(facts, recorder.admission, { meter, clock: new ManualClock(3_500), log });
}

Deno.test("Settlement charges once, whatever is called afterwards, and logs the amount", async () => {
  const recorder = admissionRecorder();
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, info: (event, fields) => void lines.push([event, fields]) };
  const settlement = settlementOf(recorder, log);
  await settlement.charge(chargeOf({ ...USAGE, estimated: true }, "left"));
  await settlement.charge(chargeOf(USAGE));
  settlement.release();
  assertEquals([recorder.charges.length, recorder.releases], [1, 0]);
  assertEquals(lines, [["call_charged", {
    kind: "text",
    requestId: "req_1",
    accountId: "demo",
    model: "acme/m",
    provider: "one",
    state: "left, estimated",
    inputTokens: 12,
    outputTokens: 30,
    cost: "0.0720000000",
    durationMs: 2_500,
  }]]);
});

Deno.test("Settlement releases once, and charges nothing afterwards", async () => {
  const recorder = admissionRecorder();
  const settlement = settlementOf(recorder);
  settlement.release();
  settlement.release();
  await settlement.charge(chargeOf(USAGE));
  assertEquals([recorder.charges.length, recorder.releases], [0, 1]);
});

Deno.test("Settlement fails with the charge, and logs no charge", async () => {
  const recorder = admissionRecorder();
  recorder.durable = () => Promise.reject(new Error("lost"));
  const log: Log = { ...silentLog, info: () => assertEquals("logged", "not logged") };
  const settlement = settlementOf(recorder, log);
  await assertRejects(async () => await settlement.charge(chargeOf(USAGE)), Error, "lost");
});

Deno.test("Settlement charges within a commit, refreshes the balance and ends the reservation", async () => {
  const recorder = admissionRecorder();
  const invalidated: string[] = [];
  const parts = { meter: { invalidate: (id: string) => void invalidated.push(id) }, clock: new ManualClock() };
  const settlement = new Settlement(facts, recorder.admission, { ...parts, log: silentLog });
  const rows: unknown[] = [];
  await settlement.chargeWithin(chargeOf(USAGE), (row) => Promise.resolve(void rows.push(row?.amount)));
  settlement.release();
  assertEquals([rows, invalidated, recorder.charges.length, recorder.releases], [[720_000_000n], ["demo"], 0, 1]);
});

Deno.test("Settlement stays open when the commit with its charge fails, and adds no charge of zero", async () => {
  const recorder = admissionRecorder();
  const settlement = settlementOf(recorder);
  await assertRejects(() => settlement.chargeWithin(chargeOf(USAGE), () => Promise.reject(new Error("full"))), Error);
  assertEquals(recorder.releases, 0);
  const rows: unknown[] = [];
  const nothing = { ...chargeOf(USAGE), parts: [] };
  await settlement.chargeWithin(nothing, (row) => Promise.resolve(void rows.push(row)));
  assertEquals([rows, recorder.releases], [[null], 1]);
});

Deno.test("Settlement of another model charges the call at that model's name, and ends it for all", async () => {
  const recorder = admissionRecorder();
  const settlement = settlementOf(recorder);
  const other = { id: "acme/other", tariff } as Model;
  const served = settlement.servedBy(other, 77);
  assertEquals([served.facts.model.id, served.admission.reserved.outputLimit], ["acme/other", 77]);
  assertEquals(settlement.servedBy(model, settlement.admission.reserved.outputLimit), settlement);
  await served.charge(chargeOf(USAGE));
  settlement.release();
  await settlement.charge(chargeOf(USAGE));
  assertEquals([recorder.charges.map((charge) => charge.model), recorder.releases], [["acme/other"], 0]);
});
