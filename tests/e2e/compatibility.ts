import { assertEquals } from "@std/assert";
import type { Client } from "./clients/client.ts";
import type { Feature, Gap } from "./features.ts";
import { alignedTable, wrappedParagraph } from "../support/markdown.ts";
import type { VendorModel } from "./vendors.ts";

/** The result of each cell, by {@linkcode cellName}. */
export type Findings = Map<string, Gap>;

/** The tested clients, vendors and features. */
export interface Tried {
  readonly clients: readonly Client[];
  readonly vendors: readonly VendorModel[];
  readonly features: readonly Feature[];
}

const TABLE = new URL("../../docs/compatibility.md", import.meta.url);

/** The name of a cell, in the test run and in the findings. */
export function cellName(client: Client, vendor: VendorModel, feature: Feature): string {
  return `${client.name} × ${vendor.name}: ${feature.name}`;
}

/**
 * Compares `docs/compatibility.md` with the findings, or writes it if SWITCHYARD_WRITE_COMPATIBILITY is 1.
 *
 * @throws {AssertionError} If the committed table differs.
 */
export function checkCompatibility(tried: Tried, found: Findings): void {
  // The section of families has its own test.
  const [, families = ""] = Deno.readTextFileSync(TABLE).split(/\n(?=## )/);
  const written = tableOf(tried, found) + (families === "" ? "" : `\n${families}`);
  if (Deno.env.get("SWITCHYARD_WRITE_COMPATIBILITY") === "1") Deno.writeTextFileSync(TABLE, written);
  assertEquals(Deno.readTextFileSync(TABLE).split("\n"), written.split("\n"));
}

/** Why a feature is missing: the finding, the cells, and the reason. The first match applies. */
const REASONS: readonly { readonly gap: string; readonly where: RegExp; readonly because: string }[] = [
  {
    gap: "not shown, not carried on",
    where: /chat.* × openai/,
    because: "In chat completions this vendor counts reasoning and neither returns nor signs it. " +
      "Clients of the responses format receive it.",
  },
  {
    gap: "not shown",
    where: /^openai chat\.completions × google/,
    because: "Chat completions have no field that requests reasoning, and this vendor returns it only on request. " +
      "The gateway keeps it in memory and sends it with the tool result.",
  },
  {
    gap: "not shown",
    where: /^ai, @ai-sdk\/openai \.chat\(\)/,
    because: "This client has no field for reasoning in chat completions. " +
      "The gateway keeps it in memory and sends it with the tool result.",
  },
  {
    gap: "not offered",
    where: /: tool runner$/,
    because: "This client has no loop that runs tools.",
  },
  {
    gap: "not offered",
    where: /: threads$/,
    because: "Message threads belong to the message protocol and its own client.",
  },
  {
    gap: "refused",
    where: /: threads$/,
    because: "This vendor has no threads. The error has the client's own error class, and its tool runner then sends " +
      "the whole conversation.",
  },
  {
    gap: "not offered",
    where: /: hosted search$/,
    because: "This client cannot request a vendor's search in chat completions.",
  },
  {
    gap: "not this model's",
    where: /^openai chat\.completions × openai: hosted search$/,
    because: "Both sides use chat completions, where this vendor searches with special models only.",
  },
];

function tableOf({ clients, vendors, features }: Tried, found: Findings): string {
  const notes: string[] = [];
  const rows = clients.flatMap((client) =>
    vendors.map((vendor) => [
      client.name,
      vendor.name,
      ...features.map((feature) => markOf(cellName(client, vendor, feature), found, notes)),
    ])
  );
  const table = alignedTable([["Client", "Vendor", ...features.map(({ name }) => name)], ...rows]);
  const lines = notes.map((note, at) => wrappedParagraph(note, `${at + 1}. `));
  return [["# Compatibility"], wrappedParagraph(INTRODUCTION), table, wrappedParagraph(EXPLANATION), lines.flat()]
    .map((block) => block.join("\n")).join("\n\n") + "\n";
}

const INTRODUCTION =
  "Features of the official clients through the gateway, with each of three vendor families. The clients get only its " +
  "address and a key. `deno task compatibility` writes this page from a test run with simulated vendors, and a test " +
  "compares it with each run. A number refers to a note below the table.";
const EXPLANATION =
  "Each cell checks the text, the calls, the stop reason and the token counts that the client shows. The charge must " +
  "be exactly those tokens at the catalog's prices, plus the price of a search. The small limit is the format's " +
  "minimum. The large limit is above the model's, and the response names the lowered field. `@ai-sdk/google` sends a " +
  "search only for ids of Gemini 2 and later, so the test uses such an id.";

/** The subject of a note, by the end of the cell's name. */
const SUBJECTS = { "hosted search": "Search", "tool runner": "Tool runner", threads: "Threads" };

/** A finding as a note has it. */
const GAPS: Readonly<Record<string, string>> = {
  "not shown, not carried on": "not shown, not continued",
  "not this model's": "not available with this model",
};

function markOf(cell: string, found: Findings, notes: string[]): string {
  const gap = found.get(cell);
  if (gap === undefined) return "no";
  if (gap === null) return "yes";
  const reason = REASONS.find((each) => each.gap === gap && each.where.test(cell));
  if (!reason) throw new Error(`No reason is listed for this gap: ${cell}: ${gap}`);
  const subject = Object.entries(SUBJECTS).find(([name]) => cell.endsWith(name))?.[1] ?? "Reasoning";
  const note = `${subject} ${GAPS[gap] ?? gap}. ${reason.because}`;
  if (!notes.includes(note)) notes.push(note);
  return String(notes.indexOf(note) + 1);
}
