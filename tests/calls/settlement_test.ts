import { assertEquals, assertRejects } from "@std/assert";
import { readTariff } from "../../src/money/billing/prices/tariff.ts";
import { textQuantitiesOf } from "../../src/money/billing/prices/text_quantities.ts";
import { type CallCharge, type CallFacts, type EndState, Settlement } from "../../src/services/calls/settlement.ts";
import type { Model } from "../../src/vendors/catalog/model.ts";
import type { Usage } from "../../src/conversation/neutral/usage.ts";
import type { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { type AdmissionRecorder, admissionRecorder, USAGE } from "../texts/support.ts";

const pricing = { prompt: "0.001", completion: "0.002" };
const tariff = readTariff(pricing);
const model = { id: "acme/m", pricing, tariff } as Model;
const meter = { invalidate() {} };

function chargeOf(usage: Usage, state: EndState = "completed"): CallCharge {
  return { provider: "one", state, parts: [{ quantities: textQuantitiesOf(usage), tariff }], usage };
}

function settlementOf(recorder: AdmissionRecorder, record: RequestRecord = unobservedRecord()): Settlement {
  const facts: CallFacts = {
    kind: "text",
    requestId: "req_1",
    accountId: "demo",
    keyId: "key_1",
    model,
    receivedAt: 1_000,
    record,
  };
  return new Settlement(facts, recorder.admission, { meter, log: silentLog });
}

Deno.test("Settlement charges once, whatever is called afterwards, and records the charge", async () => {
  const recorder = admissionRecorder();
  const record = unobservedRecord();
  const settlement = settlementOf(recorder, record);
  await settlement.charge(chargeOf({ ...USAGE, estimated: true }, "left"));
  await settlement.charge(chargeOf(USAGE));
  settlement.release();
  assertEquals([recorder.charges.length, recorder.releases], [1, 0]);
  const { kind, servedModel, provider, end, tokens, cost } = record;
  assertEquals([kind, servedModel, provider, end, cost], ["text", "acme/m", "one", "left", 720_000_000n]);
  assertEquals([tokens?.input, tokens?.output, tokens?.isEstimated], [12, 30, true]);
});

Deno.test("Settlement releases once, and charges nothing afterwards", async () => {
  const recorder = admissionRecorder();
  const settlement = settlementOf(recorder);
  settlement.release();
  settlement.release();
  await settlement.charge(chargeOf(USAGE));
  assertEquals([recorder.charges.length, recorder.releases], [0, 1]);
});

Deno.test("Settlement fails with the charge, and records no cost", async () => {
  const recorder = admissionRecorder();
  recorder.durable = () => Promise.reject(new Error("lost"));
  const record = unobservedRecord();
  const settlement = settlementOf(recorder, record);
  await assertRejects(async () => await settlement.charge(chargeOf(USAGE)), Error, "lost");
  assertEquals(record.cost, null);
});

Deno.test("Settlement charges within a commit, refreshes the balance and ends the reservation", async () => {
  const recorder = admissionRecorder();
  const invalidated: string[] = [];
  const watched = { invalidate: (id: string) => void invalidated.push(id) };
  const { facts } = settlementOf(recorder);
  const settlement = new Settlement(facts, recorder.admission, { meter: watched, log: silentLog });
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
  const other = { id: "acme/other", pricing, tariff } as Model;
  const served = settlement.servedBy(other, 77);
  assertEquals([served.facts.model.id, served.admission.reserved.outputLimit], ["acme/other", 77]);
  assertEquals(settlement.servedBy(model, settlement.admission.reserved.outputLimit), settlement);
  await served.charge(chargeOf(USAGE));
  settlement.release();
  await settlement.charge(chargeOf(USAGE));
  assertEquals([recorder.charges.map((charge) => charge.model), recorder.releases], [["acme/other"], 0]);
});
