import { parseArgs } from "node:util";
import { UsageError } from "./usage_error.ts";

/** Options of the commands that administer a gateway; each command says which of them it takes. */
const OPTIONS = [
  "account",
  "after",
  "balance",
  "from",
  "limit",
  "model",
  "order",
  "reason",
  "reference",
  "state",
  "status",
  "to",
] as const;

/** Options without a value. */
const FLAGS = ["allow-negative"] as const;

/** See {@linkcode OPTIONS}. */
export type AdminOption = typeof OPTIONS[number];

/** See {@linkcode FLAGS}. */
export type AdminFlag = typeof FLAGS[number];

/**
 * What stands behind a verb. A command takes what it knows; what is left then is a mistake, as an option that was
 * passed over could have been meant to narrow down what is done.
 */
export interface AdminLine {
  /**
   * The next word.
   *
   * @param what It is, with its article.
   * @throws {UsageError} If there is none, or it is empty.
   */
  word(what: string): string;
  /** Whether there is a next word. */
  hasWord(): boolean;
  /** An option's value. */
  option(name: AdminOption): string | undefined;
  /** Whether an option without a value is there. */
  flag(name: AdminFlag): boolean;
  /** The options that are there as a query with its question mark; empty when none is. */
  query(...names: readonly AdminOption[]): string;
  /**
   * Nothing more is taken.
   *
   * @throws {UsageError} If there are words or options that were not.
   */
  end(): void;
}

/** A command line in its parts. */
export interface AdminArguments {
  /** The value of `--config`. */
  readonly config: string | undefined;
  /** The value of `--gateway`. */
  readonly gateway: string | undefined;
  /** The word behind the command; empty when there is none. */
  readonly verb: string;
  readonly line: AdminLine;
}

/**
 * Reads a command line that administers a gateway.
 *
 * @param command Its first word.
 * @param args What stands behind it.
 * @throws {UsageError} If there is an option that no such command takes, or one without its value.
 */
export function readAdminArguments(command: string, args: readonly string[]): AdminArguments {
  const [text, flag] = [{ type: "string" }, { type: "boolean" }] as const;
  const options = Object.fromEntries([
    ...[...OPTIONS, "config", "gateway"].map((name) => [name, text]),
    ...FLAGS.map((name) => [name, flag]),
  ]);
  try {
    const parsed = parseArgs({ args: args.map(shieldNumber), allowPositionals: true, options });
    const values = mapValues(parsed.values as Readonly<Record<string, string | boolean>>, unshield);
    const { config, gateway, ...given } = values as Partial<Record<"config" | "gateway", string>>;
    const [verb = "", ...words] = parsed.positionals.map(unshield);
    return { config, gateway, verb, line: adminLine(`${command} ${verb}`, words, given) };
  } catch (error) {
    throw new UsageError(`switchyard: ${(error as Error).message}`);
  }
}

/** Stands before a negative number, which is a word here and would be read as an option. No argument can hold it. */
const SHIELD = "\0";

function shieldNumber(argument: string): string {
  return /^-[\d.]/.test(argument) ? SHIELD + argument : argument;
}

function unshield<T>(value: T): T {
  return typeof value === "string" && value.startsWith(SHIELD) ? value.slice(SHIELD.length) as T : value;
}

function mapValues<T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** Options by their names; those of {@linkcode FLAGS} are true. */
type GivenOptions = Readonly<Partial<Record<AdminOption, string> & Record<AdminFlag, boolean>>>;

function adminLine(command: string, words: readonly string[], options: GivenOptions): AdminLine {
  const wordsLeft = [...words];
  const optionsLeft = new Set(Object.keys(options));
  const option = (name: AdminOption) => {
    optionsLeft.delete(name);
    return options[name];
  };
  return {
    word(what) {
      const word = wordsLeft.shift();
      if (!word) throw new UsageError(`switchyard: expected ${what}`);
      return word;
    },
    hasWord: () => wordsLeft.length > 0,
    option,
    flag(name) {
      optionsLeft.delete(name);
      return options[name] === true;
    },
    query(...names) {
      const query = new URLSearchParams();
      for (const name of names) {
        const value = option(name);
        if (value !== undefined) query.set(name, value);
      }
      return query.size === 0 ? "" : `?${query}`;
    },
    end() {
      for (const name of optionsLeft) throw new UsageError(`switchyard ${command}: there is no option "--${name}"`);
      for (const word of wordsLeft) {
        throw new UsageError(`switchyard ${command}: expected nothing behind it: "${word}"`);
      }
    },
  };
}
