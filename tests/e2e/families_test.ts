import { assertEquals } from "@std/assert";
import { alignedTable, wrappedParagraph } from "../support/markdown.ts";
import { SPEAKERS } from "./changing_conversations.ts";
import { CHAT_FAMILIES, FAMILIES, FAMILY_FEATURES, type Outcome, type Send } from "./family_features.ts";
import { startFamilyGateway } from "./family_gateway.ts";

const PAGE = new URL("../../docs/compatibility.md", import.meta.url);
const HEADING = "## Families of models";

const COLUMNS = [...FAMILIES, ...CHAT_FAMILIES];

const { vendors, gateway } = await startFamilyGateway();

const send: Send = async (speaker, model, body) => {
  const response = await fetch(`${gateway.address}${speaker.path(model)}`, {
    method: "POST",
    headers: speaker.headers(gateway.key),
    body: JSON.stringify(body),
  });
  const dropped = (response.headers.get("x-service-dropped") ?? "").split(", ").filter((name) => name !== "");
  return { status: response.status, dropped, reply: await response.json() };
};

/** The cells of a row, as the table shows them. */
const rows = new Map<string, readonly string[]>();

for (const feature of FAMILY_FEATURES) {
  Deno.test(`no model of any family is sent what it refuses: ${feature.name}`, async () => {
    const cells: string[] = [];
    for (const { model } of COLUMNS) {
      const found = new Map<string, readonly Outcome[]>();
      for (const format of Object.keys(SPEAKERS)) {
        const outcomes = await feature.try(format, model, send);
        const refused = outcomes.find(({ status }) => status !== 200);
        assertEquals(refused?.reply, undefined, `${format} to ${model}`);
        found.set(format, outcomes);
      }
      cells.push(cellOf(found));
    }
    rows.set(feature.name, cells);
  });
}

/** `yes`, or the formats in which something of the request is changed and named. */
function cellOf(found: ReadonlyMap<string, readonly Outcome[]>): string {
  const changed = [...found].filter(([, outcomes]) => outcomes.some(({ dropped }) => dropped.length > 0));
  if (changed.length === 0) return "yes";
  return changed.length === found.size ? "nearest" : `nearest (${changed.map(([format]) => format).join(", ")})`;
}

Deno.test("docs/compatibility.md agrees with what each family takes", async () => {
  const page = await Deno.readTextFile(PAGE);
  // A filtered run of a few rows cannot check the table.
  if (rows.size < FAMILY_FEATURES.length) return;
  const [others = ""] = page.split(`\n${HEADING}\n`);
  const table = alignedTable([
    ["Request", ...COLUMNS.map(({ name }) => name)],
    ...[...rows].map(([name, cells]) => [
      name,
      ...cells,
    ]),
  ]);
  const section = [[HEADING], wrappedParagraph(INTRODUCTION), table].map((block) => block.join("\n")).join("\n\n");
  const written = `${others.trimEnd()}\n\n${section}\n`;
  if (Deno.env.get("SWITCHYARD_WRITE_COMPATIBILITY") === "1") await Deno.writeTextFile(PAGE, written);
  assertEquals((await Deno.readTextFile(PAGE)).split("\n"), written.split("\n"), "run: deno task compatibility");
});

const INTRODUCTION =
  "Requests in the four formats of callers, with simulated vendors that refuse what each model refuses. `yes`: the " +
  "request is accepted as it is, in every format. `nearest`: it is accepted, and what the model does not take is " +
  "changed to the nearest that it takes or left out, which `X-Service-Dropped` names; in brackets the formats, if not " +
  "all. None is refused. A tool loop is a call and the request with its result.";

Deno.test("the gateway of these tests stops", async () => {
  await gateway.stop();
  await vendors.stop();
});
