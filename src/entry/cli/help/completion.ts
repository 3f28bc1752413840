import { UsageError } from "../usage_error.ts";
import type { CommandHelp } from "./command_help.ts";
import { COMMANDS } from "./help.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** Prints the completion of a shell from the described commands. */
type Script = (commands: readonly CommandHelp[]) => string;

const SCRIPTS: Readonly<Record<string, Script>> = { bash, zsh, fish };

/**
 * The script that completes commands, subcommands, options and their choices in a shell.
 *
 * @param args The name of the shell: bash, zsh or fish.
 * @throws {UsageError} If it is another.
 */
export function completionFor(args: readonly string[]): string {
  const [shell = "", ...more] = args;
  const script = ownValue(SCRIPTS, shell);
  if (script === undefined || more.length > 0) {
    throw new UsageError("switchyard completion: expected one of bash, zsh, fish");
  }
  return script(COMMANDS);
}

/** The words that can follow the words so far, by those words; empty for the start. */
function nextWords(commands: readonly CommandHelp[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, string[]>([["", []]]);
  const add = (after: string, word: string) => {
    const words = next.get(after) ?? [];
    if (!words.includes(word)) words.push(word);
    next.set(after, words);
  };
  for (const { words, options } of commands) {
    const [first = "", second] = words.split(" ");
    add("", first);
    if (second !== undefined) add(first, second);
    for (const option of options) add(words, option.name);
  }
  return next;
}

/** The choices of options that have some, by option. They mean the same in every command. */
function choices(commands: readonly CommandHelp[]): ReadonlyMap<string, readonly string[]> {
  const byOption = new Map<string, Set<string>>();
  for (const { options } of commands) {
    for (const { name, choices = [] } of options) {
      const all = byOption.get(name) ?? new Set();
      for (const choice of choices) all.add(choice);
      byOption.set(name, all);
    }
  }
  return new Map([...byOption].filter(([, all]) => all.size > 0).map(([name, all]) => [name, [...all]]));
}

function bash(commands: readonly CommandHelp[]): string {
  return `# Completion of switchyard for bash.
_switchyard() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words="" word
  case "$previous" in
${
    [...choices(commands)].map(([name, all]) =>
      `    ${name}) COMPREPLY=($(compgen -W "${all.join(" ")}" -- "$current")); return;;`
    ).join("\n")
  }
    ${filesOptions(commands).join("|")}) COMPREPLY=($(compgen -f -- "$current")); return;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) [ "$(wc -w <<< "$words")" -lt 2 ] && words="\${words:+$words }$word";; esac
  done
  case "$words" in
${
    [...nextWords(commands)].map(([words, all]) =>
      `    "${words}") COMPREPLY=($(compgen -W "${all.join(" ")}" -- "$current"));;`
    ).join("\n")
  }
    *) COMPREPLY=($(compgen -f -- "$current"));;
  esac
}
complete -o default -F _switchyard switchyard`;
}

function zsh(commands: readonly CommandHelp[]): string {
  return `#compdef switchyard
# Completion of switchyard for zsh.
autoload -Uz bashcompinit && bashcompinit
${bash(commands)}`;
}

function fish(commands: readonly CommandHelp[]): string {
  const lines = ["# Completion of switchyard for fish.", "complete -c switchyard -f"];
  const firsts = new Set<string>();
  for (const { words, text, options } of commands) {
    const [first = "", second] = words.split(" ");
    if (!firsts.has(first)) {
      firsts.add(first);
      lines.push(
        `complete -c switchyard -n __fish_use_subcommand -a ${first} -d ${quoted(second === undefined ? text : "")}`,
      );
    }
    const seen = second === undefined
      ? `__fish_seen_subcommand_from ${first}`
      : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    if (second !== undefined) {
      const condition = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${
        secondsOf(first, commands)
      }`;
      lines.push(`complete -c switchyard -n ${quoted(condition)} -a ${second} -d ${quoted(text)}`);
    }
    for (const option of options) {
      const value = option.value === null
        ? ""
        : option.choices === undefined
        ? " -r"
        : ` -x -a ${quoted(option.choices.join(" "))}`;
      lines.push(
        `complete -c switchyard -n ${quoted(seen)} -l ${option.name.slice(2)}${value} -d ${quoted(option.text)}`,
      );
    }
  }
  return lines.join("\n");
}

function secondsOf(first: string, commands: readonly CommandHelp[]): string {
  return commands.map(({ words }) => words.split(" ")).filter(([start]) => start === first).map(([, second]) => second)
    .join(" ");
}

/** Options whose value is a file. */
function filesOptions(commands: readonly CommandHelp[]): readonly string[] {
  const all = commands.flatMap(({ options }) => options).filter(({ value }) => value === "FILE");
  return [...new Set(all.map(({ name }) => name))];
}

/** In single quotes, which all three shells read alike. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
