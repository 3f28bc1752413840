import { assertEquals, assertRejects } from "@std/assert";
import { type AdmittedCall, CallAdmission } from "../../src/money/billing/meter/admission.ts";
import type { Charge } from "../../src/money/billing/meter/meter.ts";
import type { Log } from "../../src/platform/lib/basics/log.ts";

const CHARGE: Charge = {
  requestId: "req_1",
  keyId: "key_1",
  kind: "text",
  model: "m",
  provider: "p",
  amount: 3n,
  usage: { freshTokens: 2, outputTokens: 5 },
};

/** An admission with what its call and its log have received. */
function stage(charged?: Promise<void>) {
  const received: unknown[] = [];
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const call: AdmittedCall = {
    accountId: "acme",
    end(charge, tokens) {
      received.push([charge?.amount ?? null, tokens]);
      return charged;
    },
    whenOverdrawn: () => received.push("overdrawn"),
  };
  return { admission: new CallAdmission({ amount: 10n, outputLimit: null }, call, log), received, logged };
}

Deno.test("an admission ends its call once, with the tokens of the charge", () => {
  const { admission, received, logged } = stage();
  assertEquals(admission.charge(CHARGE), undefined);
  admission.release();
  admission.onOverdrawn(() => {});
  assertEquals([received, logged], [[[3n, 7]], []]);
});

Deno.test("a second charge is logged, and waits for the first", async () => {
  const first = Promise.withResolvers<void>();
  const { admission, received, logged } = stage(first.promise);
  const charged = admission.charge(CHARGE);
  assertEquals(admission.charge({ ...CHARGE, amount: 9n }), charged);
  assertEquals([received.length, logged], [1, ["charge_ignored"]]);
  first.resolve();
  await charged;
});

Deno.test("a negative charge is refused, and the call stays open", async () => {
  const { admission, received } = stage();
  await assertRejects(async () => await admission.charge({ ...CHARGE, amount: -1n }), RangeError);
  admission.onOverdrawn(() => {});
  admission.release(4);
  assertEquals(received, ["overdrawn", [null, 4]]);
});
