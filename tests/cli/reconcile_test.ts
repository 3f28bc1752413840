import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../architecture/source_files.ts";
import { addCharge } from "../../src/money/billing/ledger/charge.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { makePlace } from "./gateway_folder.ts";

const DAY = Date.parse("2026-11-21T10:00:00Z");
const RANGE = ["--provider", "ark", "--from", "2026-11-20", "--to", "2026-11-22"];

Deno.test("reconcile compares an invoice with the ledger of a running gateway, as a table, JSON or CSV", async () => {
  const place = await makePlace();
  const invoice = `${place.files}.csv`;
  try {
    await place.run("accounts", "create", "acme", "--balance", "5");
    const store = await openKvStore({ path: place.store, clock: systemClock, log: silentLog });
    const usage = { freshTokens: 1_200, outputTokens: 30 };
    const row = { requestId: "r", keyId: "key_1", kind: "text", provider: "ark", model: "ark/large", usage } as const;
    const rows = [{ ...row, at: DAY, amount: 25_000_000_000n }];
    await store.commit(null, addCharge({}, { account: "acme", reference: "charge_1", rows }));
    await store.close();
    await Deno.writeTextFile(
      invoice,
      "date,model,cost,requests,input_tokens,output_tokens\n2026-11-21,large,2.75,2,1200,30\n2026-11-20,large,1,1,1,1\n",
    );
    const stopped = await place.run("reconcile", ...RANGE, "--file", invoice);
    assertEquals(stopped.code, 1);
    assertStringIncludes(stopped.complaint, "only a running gateway reads the bills of vendors");
    const gateway = await place.serve();
    try {
      const { code, said, complaint } = await place.run("reconcile", ...RANGE, "--file", invoice);
      assertEquals(code, 0, complaint);
      assertEquals(said.trimEnd().split("\n"), [
        "DAY         MODEL        THEIRS          OURS    DIFFERENCE  REQUESTS  INPUT TOKENS  OUTPUT TOKENS",
        "2026-11-21  large  2.7500000000  2.5000000000  0.2500000000        +1             0              0",
        "TOTAL              2.7500000000  2.5000000000  0.2500000000        +1             0              0",
        "",
        "2026-11-20: not recorded",
        "",
        "large on 2026-11-21: 0.2500000000 USD",
        "  - The vendor reports 1 request that the gateway did not charge",
      ]);
      const csv = await place.run("reconcile", ...RANGE, "--file", invoice, "--format", "csv");
      assertStringIncludes(
        csv.said,
        "\r\n2026-11-21,large,2.7500000000,2,1200,,,30,2.5000000000,1,1200,0,0,30,0.2500000000,",
      );
      const json = await place.run("reconcile", ...RANGE, "--file", invoice, "--format", "json");
      assertEquals(JSON.parse(json.said).source, "invoice");
      const refused = await place.run("reconcile", ...RANGE);
      assertEquals(refused.code, 1);
      assertStringIncludes(refused.complaint, 'provider "ark" has no report_key');
    } finally {
      await gateway.stop();
    }
    const [missing, unknown] = [
      await place.run("reconcile", "--provider", "ark"),
      await place.run("reconcile", ...RANGE, "--file", "/nowhere.csv"),
    ];
    assertEquals([missing.code, unknown.code], [2, 2]);
    assertStringIncludes(missing.complaint, "missing option: --from 2026-11-01");
    assertStringIncludes(unknown.complaint, 'cannot read "/nowhere.csv"');
  } finally {
    await place.remove();
    await Deno.remove(invoice).catch(() => {});
  }
});

Deno.test("the commands of docs/reconcile.md are accepted", async () => {
  const page = await Deno.readTextFile(join(ROOT, "docs/reconcile.md"));
  const commands = [...page.matchAll(/^switchyard (reconcile .+)$/gm)].map(([, words = ""]) => words.split(" "));
  assertEquals(commands.length, 2);
  const place = await makePlace();
  try {
    for (const words of commands) {
      const { complaint } = await place.run(...words);
      const expected = words.includes("--file") ? 'cannot read "invoice.csv"' : "only a running gateway";
      assertStringIncludes(complaint, expected);
    }
  } finally {
    await place.remove();
  }
});
