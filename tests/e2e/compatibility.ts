import { assertEquals } from "@std/assert";
import type { Client } from "./clients/client.ts";
import type { Feature, Gap } from "./features.ts";
import { filled, padded } from "../support/markdown.ts";
import type { VendorModel } from "./vendors.ts";

/** What each cell came to, by {@linkcode cellName}. */
export type Findings = Map<string, Gap>;

/** What was tried. */
export interface Tried {
  readonly clients: readonly Client[];
  readonly vendors: readonly VendorModel[];
  readonly features: readonly Feature[];
}

const TABLE = new URL("../../docs/compatibility.md", import.meta.url);

/** How a cell is called, in the test run and in the findings. */
export function cellName(client: Client, vendor: VendorModel, feature: Feature): string {
  return `${client.name} × ${vendor.name}: ${feature.name}`;
}

/**
 * Holds `docs/compatibility.md` to what was found, or writes it where SWITCHYARD_WRITE_COMPATIBILITY says so.
 *
 * @throws {AssertionError} If the committed table tells something else.
 */
export function checkCompatibility(tried: Tried, found: Findings): void {
  const written = tableOf(tried, found);
  if (Deno.env.get("SWITCHYARD_WRITE_COMPATIBILITY") === "1") Deno.writeTextFileSync(TABLE, written);
  assertEquals(Deno.readTextFileSync(TABLE).split("\n"), written.split("\n"));
}

/** Why something is not there: the words of the finding, where it was found, and the reason. The first that fits. */
const REASONS: readonly { readonly gap: string; readonly where: RegExp; readonly because: string }[] = [
  {
    gap: "not shown, not carried on",
    where: /chat.* × openai/,
    because: "this vendor counts its thoughts in chat completions and neither shows nor proves them; " +
      "clients of the responses form see them",
  },
  {
    gap: "not shown",
    where: /^openai chat\.completions × google/,
    because: "chat completions have no word by which a client asks to see thoughts, and this vendor shows them only " +
      "when asked; they are remembered by the gateway and carried on with the tool's answer",
  },
  {
    gap: "not shown",
    where: /^ai, @ai-sdk\/openai \.chat\(\)/,
    because: "this client has no field for thoughts in chat completions; " +
      "they are remembered by the gateway and carried on with the tool's answer",
  },
  {
    gap: "not offered",
    where: /: tool runner$/,
    because: "this client has no loop of its own that runs a tool",
  },
  {
    gap: "not offered",
    where: /: threads$/,
    because: "conversations that the vendor keeps by message belong to the message protocol and its author's client",
  },
  {
    gap: "refused",
    where: /: threads$/,
    because:
      "this vendor keeps none; the client is told in its own class of error, at which its tool runner sends the " +
      "whole conversation",
  },
  {
    gap: "not offered",
    where: /: hosted search$/,
    because: "this client has no way to ask for a vendor's search in chat completions",
  },
  {
    gap: "not this model's",
    where: /^openai chat\.completions × openai: hosted search$/,
    because: "both ends speak chat completions, where this vendor searches with models of its own kind alone",
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
  const table = padded([["Client", "Vendor", ...features.map(({ name }) => name)], ...rows]);
  const lines = notes.map((note, at) => filled(note, `${at + 1}. `));
  return [["# Compatibility"], filled(INTRODUCTION), table, filled(EXPLANATION), lines.flat()]
    .map((block) => block.join("\n")).join("\n\n") + "\n";
}

const INTRODUCTION =
  "What the official clients do through the gateway, given nothing but its address and a key, with each of the three " +
  "families of vendors behind it. Written by the test run (`deno task compatibility`), in front of the sandbox " +
  "vendors; a test holds this page to what the run finds. A number points to a line below the table.";
const EXPLANATION =
  "In each cell the text, the calls, the reason of the end and the counts of tokens that the client shows are " +
  "checked, and the charge is those tokens at the catalog's prices, to the last unit, and the price of a search. The " +
  "small limit is the format's least, the large one above the model's: the reply names the field that was lowered. " +
  "`@ai-sdk/google` sends a search only with ids of Gemini 2 and later, so it is tried under such an id.";

/** What a note is about, by the end of the cell's name. */
const SUBJECTS = { "hosted search": "A search is", "tool runner": "A tool runner is", threads: "Threads are" };

function markOf(cell: string, found: Findings, notes: string[]): string {
  const gap = found.get(cell);
  if (gap === undefined) return "no";
  if (gap === null) return "yes";
  const reason = REASONS.find((each) => each.gap === gap && each.where.test(cell));
  if (!reason) throw new Error(`Nothing explains this gap: ${cell}: ${gap}`);
  const subject = Object.entries(SUBJECTS).find(([name]) => cell.endsWith(name))?.[1] ?? "Thoughts are";
  const note = `${subject} ${gap}: ${reason.because}.`;
  if (!notes.includes(note)) notes.push(note);
  return String(notes.indexOf(note) + 1);
}
