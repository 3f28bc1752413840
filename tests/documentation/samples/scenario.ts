import type { Printed } from "./printed.ts";

/** A gateway on which samples are run. */
export interface Stage {
  readonly address: string;
  readonly adminKey: string;
  /** Has `switchyard.yaml`, and the files that commands name. */
  readonly folder: string;
  /** The variables of commands, such as `SWITCHYARD_KEY`. */
  readonly variables: Readonly<Record<string, string>>;
  /** What the gateway printed at its start. */
  readonly greeting?: string;
  stop(): Promise<void>;
}

/** What the samples of a page share. */
export interface Session<S extends Stage = Stage> {
  readonly stage: S;
  readonly variables: Record<string, string>;
  /** Texts of the page, each with the text that it stands for in this run: dates, addresses. */
  readonly replaced: Map<string, string>;
  /** The id of this run for each id that a sample showed. */
  readonly ids: Map<string, string>;
  /** Everything that was printed so far. */
  readonly printed: Printed[];
}

/** How samples of a page are run. The keys of its tables are parts of the text of a command or block. */
export interface Scenario<S extends Stage = Stage> {
  readonly page: string;
  /** Only the blocks below this heading. */
  readonly heading?: string;
  /** Is called before each such command or block. */
  readonly before?: Readonly<Record<string, (session: Session<S>) => Promise<void> | void>>;
  /** What runs the words of such a command in place of this process. Gives what is printed. */
  readonly runs?: Readonly<Record<string, (session: Session<S>, words: readonly string[]) => Promise<string>>>;
  /** The names of files that such blocks are. They are written to the folder of the gateway. */
  readonly files?: Readonly<Record<string, string>>;
  /** What prints such a block, which has no command. */
  readonly shows?: Readonly<Record<string, (session: Session<S>) => Promise<string> | string>>;
  /** The commands that the gateway refuses, each with a part of the message. */
  readonly refused?: Readonly<Record<string, string>>;
  /** The commands whose output is compared by names and types of its fields only. */
  readonly shapes?: readonly string[];
  /**
   * What such a block of JSON shows. Names and types of its fields are compared. Other blocks of JSON show what the
   * command before them printed, which is compared in full.
   */
  readonly answers?: Readonly<Record<string, (session: Session<S>, sample: unknown) => Promise<unknown> | unknown>>;
}

/** The session of a scenario on a gateway. */
export function sessionOn<S extends Stage>(stage: S): Session<S> {
  const replaced = new Map([["127.0.0.1:8787", new URL(stage.address).host]]);
  return { stage, variables: { ...stage.variables }, replaced, ids: new Map(), printed: [] };
}

/** The entry of a table of a scenario for a text. */
export function entryFor<T>(table: Readonly<Record<string, T>> | undefined, text: string): T | undefined {
  return Object.entries(table ?? {}).find(([part]) => text.includes(part))?.[1];
}
