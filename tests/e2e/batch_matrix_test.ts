import { assertEquals } from "@std/assert";
import { familyModels } from "../../src/config/dev_models.ts";
import { PRICING } from "../support/gateway.ts";
import { alignedTable, wrappedParagraph } from "../support/markdown.ts";
import { BATCH_FAMILIES, batchConfig, checkBatchCaller } from "./batch_check.ts";
import { BATCH_CALLERS } from "./batch_callers.ts";
import { startFamilyGateway } from "./family_gateway.ts";

const PAGE = new URL("../../docs/compatibility.md", import.meta.url);
const HEADING = "## Batches and files";
const folder = await Deno.makeTempDir();
const { vendors, gateway } = await startFamilyGateway(familyModels(PRICING), batchConfig(folder));
const tried = new Set<string>();

for (const caller of BATCH_CALLERS) {
  for (const { name, model } of BATCH_FAMILIES) {
    Deno.test({
      name: `batches: ${caller.name} × ${name}`,
      // Clients keep their connections open from test to test.
      sanitizeResources: false,
      sanitizeOps: false,
      async fn() {
        await checkBatchCaller({ caller, gateway, folder, model });
        tried.add(`${caller.name} × ${name}`);
      },
    });
  }
}

Deno.test("docs/compatibility.md agrees with the batches and files of the clients", async () => {
  // A filtered run of a few cells cannot check the table.
  if (tried.size < BATCH_CALLERS.length * BATCH_FAMILIES.length) return;
  const table = alignedTable([
    ["Client", ...BATCH_FAMILIES.map(({ name }) => name)],
    ...BATCH_CALLERS.map((caller) => [caller.name, ...BATCH_FAMILIES.map(() => "yes")]),
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
  "the catalog's prices. A file that is read, listed and deleted is part of each run. The clients for Python are in " +
  "[clients.md](clients.md#batches-and-files).";

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
