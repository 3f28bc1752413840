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

/** The name of a cell, in the test run and in the findings. The column is a family of models. */
export function cellName(client: Client, vendor: VendorModel, feature: Feature): string {
  return `${client.name} × ${vendor.name}: ${feature.name}`;
}

/**
 * Compares `docs/compatibility.md` with the findings, or writes it if SWITCHYARD_WRITE_COMPATIBILITY is 1.
 *
 * @throws {AssertionError} If the committed table differs.
 */
export function checkCompatibility(tried: Tried, found: Findings): void {
  // The sections below the table have their own tests.
  const [, ...sections] = Deno.readTextFileSync(TABLE).split(/\n(?=## )/);
  const written = [tableOf(tried, found), ...sections].join("\n");
  if (Deno.env.get("SWITCHYARD_WRITE_COMPATIBILITY") === "1") Deno.writeTextFileSync(TABLE, written);
  assertEquals(Deno.readTextFileSync(TABLE).split("\n"), written.split("\n"));
}

/** Why a feature is missing: the finding, the cells, and the reason. The first match applies. */
const REASONS: readonly { readonly gap: string; readonly where: RegExp; readonly because: string }[] = [
  {
    gap: "not shown, not carried on",
    where: / × GPT-4/,
    because: "This model does not reason.",
  },
  {
    gap: "not shown, not carried on",
    where: / × GPT-6, chat only: /,
    because: "In chat completions this vendor counts reasoning and neither returns nor signs it, and takes no tools " +
      "with it. A provider with `/responses` does.",
  },
  {
    gap: "not shown",
    where: /^openai chat\.completions × /,
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
    because: "The client has no loop that runs tools.",
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
    where: /^openai chat\.completions × GPT-[^:]*: hosted search$/,
    because: "Both sides use chat completions, where this vendor searches with special models only.",
  },
  {
    gap: "not this provider's",
    where: / × GPT-6, chat only: hosted search$/,
    because: "A provider with chat completions only has no search for this model.",
  },
];

function tableOf({ clients, vendors, features }: Tried, found: Findings): string {
  const notes: string[] = [];
  const rows = features.map((feature) => [
    feature.name,
    ...vendors.map((vendor) => markOf({ clients, vendor, feature }, found, notes)),
  ]);
  const table = alignedTable([["Feature", ...vendors.map(({ name }) => name)], ...rows]);
  const lines = notes.map((note, at) => wrappedParagraph(note, `${at + 1}. `));
  const introduction = wrappedParagraph(`${INTRODUCTION} The clients: ${clients.map(({ name }) => name).join("; ")}.`);
  return [["# Compatibility"], introduction, table, wrappedParagraph(EXPLANATION), lines.flat()]
    .map((block) => block.join("\n")).join("\n\n") + "\n";
}

const INTRODUCTION =
  "Features of the official clients through the gateway, with each family of models. The clients get only its address " +
  "and a key. `deno task compatibility` writes this page from a test run with simulated vendors that refuse what each " +
  "model refuses, and a test compares it with each run. `yes`: with every client. A number refers to a note below the " +
  "table, about the clients that it names; the others have the feature.";
const EXPLANATION =
  "Each cell checks the text, the calls, the stop reason and the token counts that the clients show. The charge must " +
  "be exactly those tokens at the catalog's prices, plus the price of a search. The small limit is the format's " +
  "minimum. The large limit is above the model's, and the response names the lowered field. `@ai-sdk/google` sends a " +
  "search only for ids of Gemini 2 and later, so the test uses such an id.";

/** The subject of a note, by the name of the feature. */
const SUBJECTS: Readonly<Record<string, string>> = {
  "hosted search": "Search",
  "tool runner": "Tool runner",
  threads: "Threads",
};

/** A finding as a note has it. */
const GAPS: Readonly<Record<string, string>> = {
  "not shown, not carried on": "not shown, not continued",
  "not this model's": "not available with this model",
  "not this provider's": "not available at this provider",
};

/** A feature with a family, for all clients. */
interface Shown extends Pick<Tried, "clients"> {
  readonly vendor: VendorModel;
  readonly feature: Feature;
}

function markOf({ clients, vendor, feature }: Shown, found: Findings, notes: string[]): string {
  const without = new Map<string, string[]>();
  for (const client of clients) {
    const cell = cellName(client, vendor, feature);
    const gap = found.get(cell);
    if (gap === undefined) return "no";
    if (gap === null) continue;
    const reason = REASONS.find((each) => each.gap === gap && each.where.test(cell));
    if (!reason) throw new Error(`No reason is listed for this gap: ${cell}: ${gap}`);
    const what = `${SUBJECTS[feature.name] ?? "Reasoning"} ${GAPS[gap] ?? gap}`;
    const key = JSON.stringify([what, reason.because]);
    without.set(key, [...without.get(key) ?? [], client.name]);
  }
  if (without.size === 0) return "yes";
  const numbers = [...without].map(([key, names]) => {
    const [what, because] = JSON.parse(key);
    const whom = names.length === clients.length ? "any client" : names.join("; ");
    const note = `${what} with ${whom}. ${because}`;
    if (!notes.includes(note)) notes.push(note);
    return notes.indexOf(note) + 1;
  });
  return numbers.toSorted((one, other) => one - other).join(", ");
}
