import type { Cache } from "./install.ts";
import type { Session } from "./session.ts";

/** The scenarios of each program. The keys are the columns of the table. */
export const SCENARIOS = {
  plain: "One prompt, one answer, read at the end",
  stream: "The answer read while it comes",
  tools: "The model calls a tool of the program, gets its result and answers",
  "parallel tools": "Two calls in one answer, two results in one turn",
  structured: "An answer that follows a JSON Schema",
  reasoning: "An answer of a model that thinks, carried over a turn with a tool where the program has tools",
  error: "The vendor refuses: the program ends with a failure and shows the vendor's words",
} as const;

/** The name of a scenario. */
export type ScenarioName = keyof typeof SCENARIOS;

/** The vendor families, each with the sandbox model that represents it. */
export const FAMILIES = {
  openai: "sandbox/chat-1",
  anthropic: "sandbox/messages-1",
  google: "sandbox/content-1",
} as const;

/** The name of a family. */
export type FamilyName = keyof typeof FAMILIES;

/**
 * One scenario. Resolves when the program behaved as expected.
 *
 * @throws {Error} If it did not. The first line of the message is published on the page: short, without paths and
 * ports.
 */
export type Scenario = (session: Session) => Promise<void>;

/** A program, or a package inside a small program, with one way to connect it to the gateway. */
export interface ClientProgram {
  /** The name in the table; `--only` matches it in lower case, in whole or in part. */
  readonly name: string;
  /** The pinned version, as in the table. */
  readonly version: string;
  /** True for programs that install within seconds and run everywhere: the subset that `--fast` selects. */
  readonly fast: boolean;
  /** Installs the pinned versions into the cache. Called once for each run, also when everything is installed. */
  install(cache: Cache): Promise<void>;
  /** A text instead of a scenario gives the reason why the program does not support it. */
  readonly scenarios: Readonly<Record<ScenarioName, Scenario | string>>;
  /** Closes what the scenarios share, after the last of them. */
  close?(): Promise<void>;
}

/**
 * Fails a scenario.
 *
 * @throws {Error} If `condition` is false.
 */
export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/**
 * Fails a scenario unless a text has another in it, ignoring line breaks; the message shows the end of the text.
 *
 * @throws {Error} If `text` does not contain `part`.
 */
export function expectText(text: string, part: string, where = "the output"): void {
  const line = text.replaceAll(/\s+/g, " ");
  if (line.includes(part)) return;
  const end = line.trim().slice(-160);
  throw new Error(end === "" ? `${where} is empty` : `${where} lacks "${part}": … ${end}`);
}
