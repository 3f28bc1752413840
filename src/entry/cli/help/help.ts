import { nearestWord } from "../../../platform/lib/text/nearest_word.ts";
import { UsageError } from "../usage_error.ts";
import { VERSION } from "../version.ts";
import { ACCOUNT_COMMANDS } from "./account_commands.ts";
import type { CommandHelp, OptionHelp } from "./command_help.ts";
import { GATEWAY_COMMANDS } from "./gateway_commands.ts";
import { TRAFFIC_COMMANDS } from "./traffic_commands.ts";

/** Every command, in the order of the overview. */
export const COMMANDS: readonly CommandHelp[] = [...GATEWAY_COMMANDS, ...ACCOUNT_COMMANDS, ...TRAFFIC_COMMANDS];

const TITLES: readonly (readonly [string, readonly CommandHelp[]])[] = [
  ["The gateway and its data", GATEWAY_COMMANDS],
  ["Accounts, keys and money", ACCOUNT_COMMANDS],
  ["Requests, videos and webhooks", TRAFFIC_COMMANDS],
];

/** The column at which descriptions begin in the overview. */
const TEXT_COLUMN = 44;
const WIDTH = 120;

const ADMIN_NOTE =
  `Commands that take --gateway call the admin API of a running gateway (server.admin_key): the gateway on the configured
store or at the configured address, the gateway of "dev" in this folder, or --gateway URL. When no gateway runs, most
open its store. Only "accounts create" creates a missing store.`;

/** The words of a command line that request help: those of `help keys create` and of `keys create --help`. */
export function wordsOfHelp(args: readonly string[]): readonly string[] | null {
  const [first = "help", ...rest] = args;
  if (first === "help" || first === "--help" || first === "-h") return rest.filter((word) => !word.startsWith("-"));
  const end = args.indexOf("--");
  const before = end < 0 ? args : args.slice(0, end);
  if (!before.some((word) => word === "--help" || word === "-h")) return null;
  return wordsOfCommand(before.filter((word) => !word.startsWith("-")));
}

/** The words of the command on a command line, for "switchyard help"; none if there is no such command. */
export function helpWords(args: readonly string[]): readonly string[] {
  const words = wordsOfCommand(args.filter((word) => !word.startsWith("-")));
  return words[0] !== "help" && commandsOf(words).length > 0 ? words : [];
}

/** The longest start of the words that names a command or a group of commands. */
function wordsOfCommand(words: readonly string[]): readonly string[] {
  const two = words.slice(0, 2);
  return commandsOf(two).length > 0 ? two : words.slice(0, 1);
}

/**
 * The help for a command, for a group such as `keys`, or for all commands if there are no words.
 *
 * @throws {UsageError} If there is no such command; the message names the nearest.
 */
export function helpFor(words: readonly string[]): string {
  if (words.length === 0) return overview();
  const commands = commandsOf(words);
  const [only] = commands;
  if (only === undefined) throw new UsageError(unknownCommand(words.join(" ")));
  return commands.length === 1 && only.words === words.join(" ") ? detailOf(only) : groupOf(words.join(" "), commands);
}

/** The message for words that are no command. */
export function unknownCommand(words: string): string {
  const firsts = COMMANDS.map((each) => each.words.split(" ", 1)[0] ?? "");
  const nearest = nearestWord(words, [...COMMANDS.map((each) => each.words), ...new Set(firsts)]);
  const suggestion = nearest === null ? "" : `: did you mean "${nearest}"?`;
  return `switchyard: unknown command "${words}"${suggestion}`;
}

/** A command with more options has them in its help only. */
const MAX_LISTED_OPTIONS = 12;

/**
 * A line with the option that was probably meant in the place of one that a command does not take; else with all that
 * it takes. It begins with the end of the line before. Empty if there are too many.
 *
 * @param args The command line.
 * @param name The option with its dashes.
 */
export function optionAdvice(args: readonly string[], name: string): string {
  const options = commandsOf(helpWords(args)).flatMap((each) => each.options.map((option) => option.name));
  const names = [...new Set(options)];
  const nearest = nearestWord(name, names);
  if (nearest !== null) return `\nDid you mean "${nearest}"?`;
  return names.length === 0 || names.length > MAX_LISTED_OPTIONS ? "" : `\nIts options are ${names.join(", ")}.`;
}

function commandsOf(words: readonly string[]): readonly CommandHelp[] {
  const text = words.join(" ");
  return COMMANDS.filter((each) => each.words === text || each.words.startsWith(`${text} `));
}

function overview(): string {
  return [
    `switchyard ${VERSION}: a gateway in front of many model vendors`,
    ...TITLES.flatMap(([title, commands]) => ["", `${title}:`, ...commands.map(overviewLine)]),
    "",
    'Options and examples of a command: "switchyard help keys create", or "switchyard keys create --help".',
    "",
    ADMIN_NOTE,
  ].join("\n");
}

function overviewLine({ words, takes, text }: CommandHelp): string {
  return twoColumns(`  switchyard ${words}${takes === "" ? "" : ` ${takes}`}`, text, TEXT_COLUMN);
}

function groupOf(words: string, commands: readonly CommandHelp[]): string {
  return [
    `switchyard ${words}: one of`,
    "",
    ...commands.map(overviewLine),
    "",
    `Options and examples: "switchyard help ${commands[0]?.words}".`,
  ].join("\n");
}

function detailOf({ words, takes, text, options, examples }: CommandHelp): string {
  const usage = ["switchyard", words, takes, options.length > 0 ? "[OPTIONS]" : ""].filter((part) => part !== "");
  const column = Math.max(...options.map((option) => optionNameOf(option).length), 0) + 4;
  return [
    usage.join(" "),
    "",
    `  ${text}`,
    ...(options.length > 0 ? ["", "Options:", ...options.map((option) => optionLine(option, column))] : []),
    "",
    "Examples:",
    ...examples.map((example) => `  switchyard ${example}`),
  ].join("\n");
}

function optionNameOf({ name, value }: OptionHelp): string {
  return value === null ? name : `${name} ${value}`;
}

function optionLine(option: OptionHelp, column: number): string {
  const choices = option.choices === undefined ? "" : `: ${option.choices.join(", ")}`;
  return twoColumns(`  ${optionNameOf(option)}`, option.text + choices, column);
}

/** The second column moves to lines of its own where the first is too long, and is wrapped. */
function twoColumns(first: string, second: string, column: number): string {
  const lines = wrapped(second, WIDTH - column);
  const isWithin = first.length + 2 <= column;
  const head = isWithin ? first.padEnd(column) + (lines[0] ?? "") : first;
  return [head, ...lines.slice(isWithin ? 1 : 0).map((line) => " ".repeat(column) + line)].join("\n");
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
