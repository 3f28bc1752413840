import { filesOf, ROOT } from "../architecture/source_files.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import type { ClientTables } from "./client_tables.ts";
import type { Parameters, TypeRef } from "./parameters.ts";

/** What no source file knows of each format: `Type.member` and `Type.member: word`, in alphabetical order. */
export type UnknownMembers = Readonly<Record<string, readonly string[]>>;

const TABLE = new URL("unknown_members.json", import.meta.url);

/** Where formats, their facts and their counters are read. */
const FOLDERS = ["src/conversation", "src/money/billing", "src/services/texts", "src/vendors/upstreams"];

/** The tables of one format. */
export type FormatTables = Pick<ClientTables, "requests" | "replies">;

/** Reads the committed list. */
export async function committedUnknowns(): Promise<UnknownMembers> {
  return JSON.parse(await Deno.readTextFile(TABLE));
}

/** Writes the list of what is in these tables and in no source file. */
export async function writeUnknownMembers(tables: Readonly<Record<CallerFormatName, FormatTables>>): Promise<void> {
  await Deno.writeTextFile(TABLE, `${JSON.stringify(await unknownMembers(tables), null, 2)}\n`);
}

/**
 * Returns the members of requests and replies, counters of usage, kinds of events and values of enumerations that
 * occur in no source file of the formats.
 */
export async function unknownMembers(tables: Readonly<Record<string, FormatTables>>): Promise<UnknownMembers> {
  const words = await wordsOfSource();
  return Object.fromEntries(
    Object.entries(tables).map(([format, { requests, replies }]) => {
      const found = [...namesIn(requests), ...namesIn(replies)].filter(([, name]) => !words.has(name));
      return [format, [...new Set(found.map(([place]) => place))].toSorted()];
    }),
  );
}

async function wordsOfSource(): Promise<ReadonlySet<string>> {
  const words = new Set<string>();
  const paths = (await Promise.all(FOLDERS.map((folder) => filesOf(folder, ".ts")))).flat();
  for (const path of paths) {
    const text = await Deno.readTextFile(`${ROOT}${path}`);
    for (const [word] of text.matchAll(/[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*/g)) {
      words.add(word);
      for (const part of word.split(/[.-]/)) words.add(part);
    }
  }
  return words;
}

/** Members and words of a table, each with its place. */
function* namesIn({ types }: Parameters): Generator<readonly [place: string, name: string]> {
  for (const [type, members] of Object.entries(types)) {
    for (const [member, ref] of Object.entries(members)) {
      const name = member.replace(/\?$/, "");
      if (type !== "Reply") yield [`${type}.${name}`, name];
      for (const word of wordsIn(ref)) yield [`${type}.${name}: ${word}`, word];
    }
  }
}

function wordsIn(ref: TypeRef): readonly string[] {
  if (typeof ref === "string") return [];
  if ("words" in ref) return ref.words;
  if ("list" in ref) return wordsIn(ref.list);
  return "union" in ref ? ref.union.flatMap(wordsIn) : [];
}
