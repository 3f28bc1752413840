import { assertEquals, assertStringIncludes } from "@std/assert";
import { addCharge } from "../../src/money/billing/ledger/charge.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { makePlace, type Place } from "./gateway_folder.ts";

const DAY = Date.parse("2026-11-21T10:00:00Z");

/** Charges of two models on two days, in the store of a gateway that does not run. */
async function placeWithCharges(): Promise<Place> {
  const place = await makePlace();
  await place.run("accounts", "create", "acme", "--balance", "5");
  const store = await openKvStore({ path: place.store, clock: systemClock, log: silentLog });
  const row = { requestId: "r", keyId: "key_1", kind: "text", provider: "acme" } as const;
  const usage = { freshTokens: 1_200, outputTokens: 30 };
  const rows = [
    { ...row, at: DAY, model: "acme/large", amount: 25_000_000_000n, usage },
    { ...row, at: DAY, model: "acme/small", amount: 1_000_000_000n, usage },
    { ...row, at: DAY - 86_400_000, model: "acme/small", amount: 500_000_000n, usage },
  ];
  await store.commit(null, addCharge({}, { account: "acme", reference: "charge_1", rows }));
  await store.close();
  return place;
}

Deno.test("usage prints a table of the store's charges, JSON or CSV", async () => {
  const place = await placeWithCharges();
  try {
    const { code, said } = await place.run(
      "usage",
      "--group-by",
      "model",
      "--from",
      "2026-11-21",
      "--to",
      "2026-11-22",
    );
    assertEquals(code, 0);
    assertEquals(said.trimEnd().split("\n"), [
      "MODEL       REQUESTS  INPUT TOKENS  OUTPUT TOKENS          COST",
      "acme/large         1          1200             30  2.5000000000",
      "acme/small         1          1200             30  0.1000000000",
      "TOTAL              2          2400             60  2.6000000000",
    ]);
    const { said: top } = await place.run("usage", "--group-by", "day,model", "--top", "1");
    assertEquals(top.trimEnd().split("\n").slice(1), [
      "2026-11-21  acme/large         1          1200             30  2.5000000000",
      "2026-11-20  others             1          1200             30  0.0500000000",
      "2026-11-21  others             1          1200             30  0.1000000000",
      "TOTAL                          3          3600             90  2.6500000000",
    ]);
    const { said: json } = await place.run("usage", "--format", "json", "--account", "acme");
    const { data, total } = JSON.parse(json);
    assertEquals([data.length, total.cost, total.requests], [2, "2.6500000000", 3]);
    const { said: csv } = await place.run("usage", "--format", "csv", "--group-by", "day");
    assertEquals(csv.split("\r\n").map((line) => line.slice(0, 23)).slice(1), [
      "2026-11-20,0.0500000000",
      "2026-11-21,2.6000000000",
    ]);
    const refused = await place.run("usage", "--group-by", "modell");
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.complaint, 'did you mean "model"?');
    assertEquals((await place.run("usage", "--format", "xml")).code, 2);
    assertEquals((await place.run("usage", "today")).code, 2);
    assertEquals((await place.run("ledger", "verify")).said.trim(), "1 account, 2 ledger entries, 0 differences");
    const gateway = await place.serve();
    try {
      const running = await place.run("usage", "--format", "csv", "--group-by", "day");
      assertEquals([running.code, running.said], [0, csv], running.complaint);
    } finally {
      await gateway.stop();
    }
  } finally {
    await place.remove();
  }
});
