import type { WrittenRequest } from "../conversation.ts";

/** What differs between the protocols in the programs that send a request. */
export interface Snippets {
  /** The header fields of a request by curl. Source: docs/api/README.md#authentication. */
  readonly keyFields: readonly string[];
  /** The program with the official client in Python, for a gateway at a public address. */
  readonly python: (request: WrittenRequest, baseUrl: string) => string;
  /** The same in TypeScript. */
  readonly typescript: (request: WrittenRequest, baseUrl: string) => string;
}

/** The languages of snippets. */
export type Language = "curl" | "python" | "typescript";

/** The languages, in the order in which they are shown. */
export const LANGUAGES: readonly Language[] = ["curl", "python", "typescript"];

/** The environment variable with the key, which no snippet contains. */
export const KEY_VARIABLE = "SWITCHYARD_KEY";

/** A text as one word of a shell. Source: POSIX, Shell Command Language, 2.2.2. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
