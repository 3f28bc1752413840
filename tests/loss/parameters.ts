import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";

/** The type of a parameter: a primitive, a union of literals, or a combination of types. */
export type TypeRef =
  | "text"
  | "number"
  | "boolean"
  | "any"
  | { readonly words: readonly string[] }
  | { readonly list: TypeRef }
  | { readonly union: readonly TypeRef[] }
  | { readonly type: string };

/** Members of an object by name; optional ones end in `?`. */
export type Members = Readonly<Record<string, TypeRef>>;

/** All parameters of one format's requests, from the types of an official client; `Request` is the request. */
export interface Parameters {
  readonly package: string;
  readonly version: string;
  readonly types: Readonly<Record<string, Members>>;
}

const FORMATS: readonly CallerFormatName[] = ["chat", "responses", "messages", "content"];

/** The file of a format's table. */
export function tableOf(format: CallerFormatName): URL {
  return new URL(`parameters/${format}.json`, import.meta.url);
}

/** The file of what a format's client receives; its types have the root `Reply`. */
export function replyTableOf(format: CallerFormatName): URL {
  return new URL(`replies/${format}.json`, import.meta.url);
}

/** Reads what a format's client receives. */
export async function repliesOf(format: CallerFormatName): Promise<Parameters> {
  return JSON.parse(await Deno.readTextFile(replyTableOf(format)));
}

/** All tables. */
export const TABLES: readonly URL[] = FORMATS.map(tableOf);

/** Reads the table of a format. */
export async function parametersOf(format: CallerFormatName): Promise<Parameters> {
  return JSON.parse(await Deno.readTextFile(tableOf(format)));
}
