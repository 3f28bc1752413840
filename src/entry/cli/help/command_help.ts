import { TIME_FORMS } from "../times.ts";

/** An option of a command. */
export interface OptionHelp {
  /** With its dashes: `--limit`. */
  readonly name: string;
  /** What follows it, such as `N`; null for an option without a value. */
  readonly value: string | null;
  /** What it does, in a few words. */
  readonly text: string;
  /** The values to choose from. Default: any. */
  readonly choices?: readonly string[];
}

/** The description of a command, for help and for completion in shells. */
export interface CommandHelp {
  /** Its words after `switchyard`: `keys create`. */
  readonly words: string;
  /** What follows the words, such as `ACCOUNT KEY`; empty for nothing. */
  readonly takes: string;
  /** What it does, in a few words. */
  readonly text: string;
  /** Its own options, without those that a whole group has. */
  readonly options: readonly OptionHelp[];
  /** Command lines that can be copied, without `switchyard`. */
  readonly examples: readonly string[];
}

/** Describes a command; see {@linkcode CommandHelp}. */
export function command(
  words: string,
  takes: string,
  text: string,
  { options = [], examples }: { readonly options?: readonly OptionHelp[]; readonly examples: readonly string[] },
): CommandHelp {
  return { words, takes, text, options, examples };
}

/** Describes an option with a value. */
export function option(name: string, value: string, text: string, choices?: readonly string[]): OptionHelp {
  return { name: `--${name}`, value, text, ...(choices !== undefined && { choices }) };
}

/** Describes an option without a value. */
export function flag(name: string, text: string): OptionHelp {
  return { name: `--${name}`, value: null, text };
}

/** The configuration, of which the command reads where the store and the gateway are. */
export const CONFIG: OptionHelp = option("config", "FILE", "the configuration; default switchyard.yaml");

/** The gateway to call. */
export const GATEWAY: OptionHelp = option("gateway", "URL", "the running gateway to call");

/** The options of lists with pages. */
export const PAGES: readonly OptionHelp[] = [
  option("limit", "N", "the most entries to show"),
  option("after", "NEXT", "continue where an earlier page ended"),
];

/** The order of a list. */
export const ORDER: OptionHelp = option("order", "ORDER", "oldest or newest first", ["asc", "desc"]);

/** A range of time. */
export const TIMES: readonly OptionHelp[] = [
  option("from", "TIME", `only from this time on: ${TIME_FORMS}`),
  option("to", "TIME", "only before this time"),
];

/** Limits of keys and accounts. */
export const LIMITS: readonly OptionHelp[] = [
  option("models", "LIST", 'models that may be used: "openai/*,ID"'),
  option("endpoints", "LIST", "endpoints that may be used"),
  option("providers", "LIST", "providers that may be used"),
  option("ip-allow", "LIST", "networks that requests may come from: 10.0.0.0/8"),
  option("rpm", "N", "requests a minute"),
  option("tpm", "N", "tokens a minute"),
  option("concurrency", "N", "simultaneous requests"),
  option("budget", "AMOUNT/PERIOD", "the most to spend in a day, week or month, or in total: 20/month"),
  option("prompt-caching", "auto|off", "whether vendors' prompt caches are used", ["auto", "off"]),
  option("capture", "WHICH", "the requests whose bodies are kept", ["none", "errors", "all"]),
];
