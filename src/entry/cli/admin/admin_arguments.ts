import { REQUEST_OPTIONS, type RequestOption } from "./request_options.ts";
import { readSpan, readTime } from "../times.ts";
import { UsageError } from "../usage_error.ts";
import { parseOptions, unexpectedArgument, unknownOption } from "../command_options.ts";

/** Options of the admin commands, beside those that select requests. Each command takes some of them. */
const OPTIONS = [
  "account",
  "actor",
  "after",
  "balance",
  "budget",
  "capture",
  "prompt-caching",
  "code",
  "concurrency",
  "credential",
  "endpoints",
  "expires",
  "file",
  "format",
  "from",
  "group-by",
  "ip-allow",
  "key",
  "kind",
  "limit",
  "metadata",
  "model",
  "models",
  "name",
  "order",
  "overdraft",
  "notification-url",
  "webhook-format",
  "overlap",
  "provider",
  "providers",
  "q",
  "reason",
  "reference",
  "role",
  "rpm",
  "state",
  "status",
  "to",
  "top",
  "tpm",
] as const;

/** Options without a value. */
const FLAGS = ["accept-incomplete", "allow-negative", "json", "yes", "all"] as const;

/** The name of an option with a value. */
export type AdminOption = typeof OPTIONS[number] | RequestOption;

/** The name of an option without a value. */
export type AdminFlag = typeof FLAGS[number];

/**
 * The arguments after a subcommand. A command takes those that it knows, and {@linkcode AdminArguments.end} refuses
 * the rest: an ignored option could have been meant to limit what the command does.
 */
export interface AdminArguments {
  /**
   * Takes the next positional argument.
   *
   * @param name Its name in the error message.
   * @throws {UsageError} If there is none, or it is empty.
   */
  word(name: string): string;
  /** Whether a positional argument is left. */
  hasWord(): boolean;
  /** Takes an option and gives its value. */
  option(name: AdminOption): string | undefined;
  /**
   * Takes an option with a time.
   *
   * @returns Unix milliseconds.
   * @throws {UsageError} As {@linkcode readTime}.
   */
  time(name: "from" | "to" | "expires"): number | undefined;
  /** Takes an option with a time; gives its day in UTC, such as `2026-11-21`. Throws as {@linkcode time} does. */
  day(name: "from" | "to"): string | undefined;
  /** Takes an option with a span of time; gives whole seconds. */
  span(name: "overlap"): number | undefined;
  /** Takes an option without a value and tells whether it is set. */
  flag(name: AdminFlag): boolean;
  /** Takes options as a query string with its question mark; empty if none is set. Times become Unix seconds. */
  query(...names: readonly AdminOption[]): string;
  /** What was typed, by the name of an option with its dashes, or by the name that {@linkcode word} gave it. */
  readonly typed: ReadonlyMap<string, string>;
  /**
   * Ends the reading.
   *
   * @throws {UsageError} If an argument was not taken.
   */
  end(): void;
}

/** The parts of an admin command line. */
export interface AdminCommandLine {
  /** The value of `--config`. */
  readonly config: string | undefined;
  /** The value of `--gateway`. */
  readonly gateway: string | undefined;
  /** The word after the command; empty if there is none. */
  readonly subcommand: string;
  readonly rest: AdminArguments;
}

/**
 * Reads the command line of an admin command.
 *
 * @param command Its first word.
 * @param args The arguments after it.
 * @throws {UsageError} If an option is not known to any admin command, or lacks its value.
 */
export function readAdminArguments(command: string, args: readonly string[]): AdminCommandLine {
  const [text, flag] = [{ type: "string" }, { type: "boolean" }] as const;
  const options = Object.fromEntries([
    ...[...OPTIONS, ...REQUEST_OPTIONS.keys(), "config", "gateway"].map((name) => [name, text]),
    ...FLAGS.map((name) => [name, flag]),
  ]);
  const parsed = parseOptions(command, args.map(escapeNumber), { allowPositionals: true, options });
  const values = mapValues(parsed.values as Readonly<Record<string, string | boolean>>, unescape);
  const { config, gateway, ...given } = values as Partial<Record<"config" | "gateway", string>>;
  const [subcommand = "", ...words] = parsed.positionals.map(unescape);
  return { config, gateway, subcommand, rest: adminArguments(`${command} ${subcommand}`, words, given) };
}

/** Precedes a negative number, which `parseArgs` would read as an option. No argument of a process contains it. */
const ESCAPE = "\0";

function escapeNumber(argument: string): string {
  return /^-[\d.]/.test(argument) ? ESCAPE + argument : argument;
}

function unescape<T>(value: T): T {
  return typeof value === "string" && value.startsWith(ESCAPE) ? value.slice(ESCAPE.length) as T : value;
}

function mapValues<T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** The options of a command line by name; those of {@linkcode FLAGS} are true. */
type GivenOptions = Readonly<Partial<Record<AdminOption, string> & Record<AdminFlag, boolean>>>;

function adminArguments(command: string, words: readonly string[], options: GivenOptions): AdminArguments {
  const wordsLeft = [...words];
  const optionsLeft = new Set(Object.keys(options));
  const typed = new Map(Object.entries(options).map(([name, value]) => [`--${name}`, String(value)]));
  const option = (name: AdminOption) => {
    optionsLeft.delete(name);
    return options[name];
  };
  const time: AdminArguments["time"] = (name) => {
    const text = option(name);
    const direction = name === "expires" ? "ahead" : "ago";
    return text === undefined ? undefined : readTime(`${command}: --${name}`, text, { direction });
  };
  return {
    word(name) {
      const word = wordsLeft.shift();
      if (!word) throw new UsageError(`switchyard ${command}: missing argument: ${name}`);
      typed.set(name, word);
      return word;
    },
    typed,
    hasWord: () => wordsLeft.length > 0,
    option,
    time,
    day(name) {
      const at = time(name);
      return at === undefined ? undefined : new Date(at).toISOString().slice(0, 10);
    },
    span(name) {
      const text = option(name);
      return text === undefined ? undefined : readSpan(`${command}: --${name}`, text);
    },
    flag(name) {
      optionsLeft.delete(name);
      return options[name] === true;
    },
    query(...names) {
      const query = new URLSearchParams();
      for (const name of names) {
        const value = name === "from" || name === "to" ? secondsOf(time(name)) : option(name);
        if (value !== undefined) query.set(name, value);
      }
      return query.size === 0 ? "" : `?${query}`;
    },
    end() {
      for (const name of optionsLeft) throw new UsageError(`switchyard ${command}: ${unknownOption(`--${name}`)}`);
      for (const word of wordsLeft) throw new UsageError(`switchyard ${command}: ${unexpectedArgument(word)}`);
    },
  };
}

/** Unix milliseconds as whole Unix seconds in text. */
function secondsOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : String(Math.floor(time / 1_000));
}
