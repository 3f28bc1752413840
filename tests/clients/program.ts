import type { Cache } from "./install.ts";
import type { Session } from "./session.ts";

/** What each program is tried with. The keys are the columns of the table. */
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

/** The families of vendors, each with the model of the sandbox that stands for it. */
export const FAMILIES = {
  openai: "sandbox/chat-1",
  anthropic: "sandbox/messages-1",
  google: "sandbox/content-1",
} as const;

/** The name of a family. */
export type FamilyName = keyof typeof FAMILIES;

/**
 * One thing to try. Resolves when the program did and showed what it should.
 *
 * @throws {Error} Where it did not. The first line of the message goes into the page: short, without paths and ports.
 */
export type Scenario = (session: Session) => Promise<void>;

/** A program, or a package inside a program of a few lines, with one way of pointing it at the gateway. */
export interface ClientProgram {
  /** As the table shows it; also what `--only` selects by, in lower case, in whole or in part. */
  readonly name: string;
  /** The pinned version, as the table shows it. */
  readonly version: string;
  /** True for programs that install within seconds and run everywhere: the subset that `--fast` selects. */
  readonly fast: boolean;
  /** Installs the pinned versions into the cache. Called once for each run, also where all is there already. */
  install(cache: Cache): Promise<void>;
  /** A text in place of a scenario says why the program has no such thing. */
  readonly scenarios: Readonly<Record<ScenarioName, Scenario | string>>;
  /** Ends what the scenarios share, after the last of them. */
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
 * Fails a scenario unless a text holds another, however the lines are broken; shows the end of the text.
 *
 * @throws {Error} If `text` does not hold `part`.
 */
export function expectText(text: string, part: string, where = "the output"): void {
  const line = text.replaceAll(/\s+/g, " ");
  if (line.includes(part)) return;
  const end = line.trim().slice(-160);
  throw new Error(end === "" ? `${where} is empty` : `${where} lacks "${part}": … ${end}`);
}
