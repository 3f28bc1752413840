import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { familyModels } from "../../src/config/dev_models.ts";
import { accountMoney } from "../support/account_money.ts";
import { PRICING } from "../support/gateway.ts";
import { alignedTable, wrappedParagraph } from "../support/markdown.ts";
import { BATCH_CALLERS } from "./batch_callers.ts";
import { FAMILIES } from "./family_features.ts";
import { startFamilyGateway } from "./family_gateway.ts";

const PAGE = new URL("../../docs/compatibility.md", import.meta.url);
const HEADING = "## Batches and files";
/** One model of each kind of vendor. */
const COLUMNS = FAMILIES.filter(({ name }) =>
  ["GPT-6.2", "GPT-6, chat only", "Claude Opus 5.5", "Gemini 4"].includes(name)
);

const folder = await Deno.makeTempDir();
const { vendors, gateway } = await startFamilyGateway(familyModels(PRICING), {
  files: `${folder}/files`,
  limits: { reads: { requests: 100_000, per: 1, burst: 10_000 } },
});
const account = accountMoney(gateway);
const tried = new Set<string>();

for (const caller of BATCH_CALLERS) {
  for (const { name, model } of COLUMNS) {
    Deno.test({
      name: `batches: ${caller.name} × ${name}`,
      // Clients keep their connections open from test to test.
      sanitizeResources: false,
      sanitizeOps: false,
      async fn() {
        const before = await account.balance();
        const questions = new Map([["first", "Hello harbor"], ["second", "Hello lighthouse"]]);
        const replies = await caller.run({ ...gateway, folder, model }, questions);
        assertEquals(replies.map(({ id }) => id).sort(), [...questions.keys()]);
        for (const { id, text } of replies) assertStringIncludes(text, questions.get(id) ?? "?");
        const cost = replies.reduce((sum, { promptTokens, outputTokens }) => {
          assert(promptTokens > 0 && outputTokens > 0);
          return sum + promptTokens * Number(PRICING.prompt) + outputTokens * Number(PRICING.completion);
        }, 0);
        assertEquals((Number(before - await account.balance()) / 1e10).toFixed(9), cost.toFixed(9));
        tried.add(`${caller.name} × ${name}`);
      },
    });
  }
}

Deno.test("docs/compatibility.md agrees with the batches and files of the clients", async () => {
  // A filtered run of a few cells cannot check the table.
  if (tried.size < BATCH_CALLERS.length * COLUMNS.length) return;
  const table = alignedTable([
    ["Client", ...COLUMNS.map(({ name }) => name)],
    ...BATCH_CALLERS.map((caller) => [caller.name, ...COLUMNS.map(() => "yes")]),
  ]);
  const section = [[HEADING], wrappedParagraph(INTRODUCTION), table].map((block) => block.join("\n")).join("\n\n");
  const page = await Deno.readTextFile(PAGE);
  const [first = "", ...sections] = page.split(/\n(?=## )/);
  const others = sections.filter((each) => !each.startsWith(`${HEADING}\n`));
  const written = [first, `${section}\n`, ...others].join("\n");
  if (Deno.env.get("SWITCHYARD_WRITE_COMPATIBILITY") === "1") await Deno.writeTextFile(PAGE, written);
  assertEquals((await Deno.readTextFile(PAGE)).split("\n"), written.split("\n"), "run: deno task compatibility");
});

const INTRODUCTION =
  "The official clients' functions for batches and files, with one model of each kind of vendor. `yes`: each request " +
  "of a batch has its reply in the client's own format, and the charge is exactly the tokens that the client shows at " +
  "the catalog's prices. A file that is read, listed and deleted is part of each run.";

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await vendors.stop();
    await Deno.remove(folder, { recursive: true });
  },
});
