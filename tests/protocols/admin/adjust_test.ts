import { assertEquals, assertStringIncludes } from "@std/assert";
import { openTestAdmin } from "./support.ts";
import { unlimitedKey } from "../../support/callers.ts";

Deno.test("POST …/adjust debits and credits, once for each reference, and returns the new balance", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "10" });
  const body = { amount: "-4.20", reason: "charged twice for req_17", reference: "ticket-17" };
  const first = await call("POST", "/acme/adjust", body);
  assertEquals([first.status, first.body.balance, first.body.replayed], [200, "5.8000000000", false]);
  const again = await call("POST", "/acme/adjust", body);
  assertEquals([again.body.balance, again.body.replayed, again.body.reference], ["5.8000000000", true, "ticket-17"]);
  const other = await call("POST", "/acme/adjust", { ...body, amount: "-4.21" });
  assertEquals([other.status, other.body.error.field], [409, "reference"]);
  const { data } = (await call("GET", "/acme/ledger?order=desc&limit=1")).body;
  assertEquals([data[0].operation, data[0].reference, data[0].balance, data[0].detail], [
    "adjust",
    "ticket-17",
    "-4.2000000000",
    { reason: "charged twice for req_17" },
  ]);
});

Deno.test("POST …/adjust answers 409 to a debit above the balance, unless allow_negative is true", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "10" });
  const body = { amount: "-10.5", reason: "chargeback" };
  const refused = await call("POST", "/acme/adjust", body);
  assertEquals([refused.status, refused.body.error.field], [409, "amount"]);
  assertStringIncludes(refused.body.error.message, "allow_negative");
  const made = await call("POST", "/acme/adjust", { ...body, allow_negative: true });
  assertEquals([made.status, made.body.balance], [200, "-0.5000000000"]);
});

Deno.test("POST …/adjust answers 400 naming the field, and changes nothing", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "10" });
  const good = { amount: "1", reason: "goodwill" };
  const amounts = [
    "NaN",
    "0",
    "-0",
    "0.0",
    "",
    "1e3",
    "-1e30",
    "Infinity",
    "10000001",
    "-10000001",
    " 1",
    "0x1",
    "1,5",
  ];
  const mistakes: [Record<string, unknown>, string][] = [
    ...[...amounts, "0.00000000001", 1, -1, null, undefined].map((amount) => [{ amount }, "amount"] as [never, string]),
    ...["", " ", "a\nb", "\u0000", "x".repeat(501), 7, null, undefined].map((reason) =>
      [{ reason }, "reason"] as [never, string]
    ),
    [{ reference: "a b" }, "reference"],
    [{ allow_negative: "true" }, "allow_negative"],
    [{ note: "x" }, "note"],
  ];
  for (const [wrong, field] of mistakes) {
    const { status, body } = await call("POST", "/acme/adjust", { ...good, ...wrong });
    assertEquals([status, body.error.code, body.error.field], [400, "invalid_request", field], JSON.stringify(wrong));
  }
  assertEquals((await call("GET", "/acme")).body.balance, "10.0000000000");
});

Deno.test("POST …/adjust applies to the next call of the account", async () => {
  const { call, meter } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "1" });
  (await meter.admit(unlimitedKey("acme"), 1n)).release();
  await call("POST", "/acme/adjust", { amount: "-1", reason: "chargeback" });
  assertEquals(
    await Promise.try(() => meter.admit(unlimitedKey("acme"), 1n)).catch((error) => error.code),
    "insufficient_credits",
  );
  await call("POST", "/acme/adjust", { amount: "0.5", reason: "goodwill" });
  (await meter.admit(unlimitedKey("acme"), 1n)).release();
});
