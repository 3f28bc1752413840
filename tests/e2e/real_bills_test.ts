import { assert, assertEquals } from "@std/assert";
import { BUILT_IN_VENDORS, VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { type Money, multiplyRate, readMoney, writeMoney } from "../../src/platform/lib/basics/money.ts";
import { accountMoney } from "../support/account_money.ts";
import { startTestGateway } from "../support/gateway.ts";
import { REAL_BILLS, type RealBill } from "./real_bills.ts";

/** The vendor's published computation. */
function billOf({ lines, factor = "1" }: RealBill): Money {
  return lines.reduce((sum, [amount, price, unit]) => {
    if (unit === "thousand") return sum + BigInt(amount) * readMoney(price) / 1_000n;
    return sum + BigInt(amount) * multiplyRate(readMoney(price), factor) / 1_000_000n;
  }, 0n);
}

/** The same in words, as docs/money.md has it. */
function linesText({ lines, factor }: RealBill): string {
  const sum = lines.map(([amount, price, unit]) =>
    `${amount.toLocaleString("en-US")} × ${price}${unit === "thousand" ? " per 1,000" : ""}`
  ).join(" + ");
  return factor === undefined ? sum : `(${sum}) × ${factor}`;
}

/** Prices that depend on the day or the hour. Threads of their own have the clock of the machine. */
const isTimed = ({ model }: RealBill) => /^deepseek\/|gemini-3\.8/.test(model);

for (const isolates of [1, 2]) {
  Deno.test(`the charge equals the vendor's bill, with ${isolates} threads`, async () => {
    let at = 0;
    let next: RealBill | null = null;
    const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      await request.text();
      return Response.json(next?.reply);
    });
    const base_url = `http://127.0.0.1:${vendor.addr.port}`;
    const gateway = await startTestGateway({
      clock: { ...systemClock, now: () => at },
      isolates,
      balance: "1000",
      config: {
        models: undefined,
        request_log: { enabled: true },
        providers: Object.fromEntries(
          BUILT_IN_VENDORS.map((provider) => [provider, VENDORS[provider].kind] as const).map(([provider, kind]) => [
            provider,
            kind === "anthropic" || kind === "google"
              ? { kind, base_url, api_key: "key-of-vendor", allow_tools: ["*"] }
              : { kind: "openai", base_url: `${base_url}/v1`, api_key: "key-of-vendor", speaks: "both" },
          ]),
        ),
      },
    });
    try {
      const money = accountMoney(gateway);
      for (const bill of REAL_BILLS.filter((each) => isolates === 1 || !isTimed(each))) {
        next = bill;
        at = Math.max(at, Date.parse(bill.at ?? "2026-11-28T12:00:00Z"));
        const isContent = bill.path.startsWith("/gencompat");
        const response = await fetch(`${gateway.address}${bill.path}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${gateway.key}`,
            "content-type": "application/json",
            "msg-version": "2023-06-01",
          },
          body: JSON.stringify(isContent ? bill.body : { model: bill.model, ...bill.body }),
        });
        const text = await response.text();
        assertEquals(response.status, 200, `${bill.name}: ${text}`);
        const charge = await money.latestCharge();
        assertEquals([charge?.model, charge?.cost], [bill.model, writeMoney(billOf(bill))], bill.name);
        if (bill.reason === undefined) continue;
        const path = `/admin/v1/requests/${response.headers.get("x-service-request-id")}`;
        const logged = await fetch(gateway.address + path, {
          headers: { authorization: `Bearer ${gateway.adminKey}` },
        });
        const conditions: string[] = (await logged.json()).price_conditions;
        assert(conditions.some((each) => each.includes(bill.reason ?? "")), `${bill.name}: ${conditions}`);
      }
    } finally {
      await gateway.stop();
      await vendor.shutdown();
    }
  });
}

Deno.test("docs/money.md has each of these bills with its computation and our charge", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/money.md", import.meta.url));
  const rows = page.split("\n").filter((line) => line.startsWith("| ")).map((line) =>
    line.split("|").map((cell) => cell.trim()).join("|")
  );
  assert(REAL_BILLS.length >= 12);
  for (const bill of REAL_BILLS) {
    const usd = writeMoney(billOf(bill)).replace(/0+$/, "");
    const row = `|${bill.name}|\`${bill.model}\`|${linesText(bill)}|${usd}|`;
    assert(rows.includes(row), `docs/money.md lacks the row ${row}`);
  }
});
