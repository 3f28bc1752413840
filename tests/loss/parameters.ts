import type { CallerFormatName } from "../../src/conversation/reasoning_signature.ts";

/** The type of a parameter: a plain one, one of some words, or what those are put together to. */
export type TypeRef =
  | "text"
  | "number"
  | "boolean"
  | "any"
  | { readonly words: readonly string[] }
  | { readonly list: TypeRef }
  | { readonly union: readonly TypeRef[] }
  | { readonly type: string };

/** Members of an object by name; the names of those that may be left out end in `?`. */
export type Members = Readonly<Record<string, TypeRef>>;

/** Every parameter of one format's requests, as an official client's types document it; `Request` is the request. */
export interface Parameters {
  readonly package: string;
  readonly version: string;
  readonly types: Readonly<Record<string, Members>>;
}

const FORMATS: readonly CallerFormatName[] = ["chat", "responses", "messages", "content"];

/** Where the table of a format stands. */
export function tableOf(format: CallerFormatName): URL {
  return new URL(`parameters/${format}.json`, import.meta.url);
}

/** All tables. */
export const TABLES: readonly URL[] = FORMATS.map(tableOf);

/** Reads the table of a format. */
export async function parametersOf(format: CallerFormatName): Promise<Parameters> {
  return JSON.parse(await Deno.readTextFile(tableOf(format)));
}
