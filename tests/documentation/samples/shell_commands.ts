import type { CodeBlock } from "./code_blocks.ts";

/** A command of a sample, and what the sample shows of its output. */
export interface ShellCommand {
  /** In shell syntax, without a prompt. */
  readonly text: string;
  /** The lines that the sample shows; null if it shows none. */
  readonly output: string | null;
}

/**
 * The commands of a block. In a session with prompts, output follows each command. In a script, comments at the start
 * of a line are the output.
 */
export function shellCommandsOf({ text }: CodeBlock): ShellCommand[] {
  const hasPrompts = /^\$ /m.test(text);
  const commands: { text: string; output: string[] }[] = [];
  let open: string | null = null;
  for (const line of text.split("\n")) {
    const isStart: boolean = open === null &&
      (hasPrompts ? line.startsWith("$ ") : !line.startsWith("#") && line !== "");
    if (open !== null || isStart) {
      open = (open === null ? "" : `${open}\n`) + (isStart && hasPrompts ? line.slice(2) : line);
      if (!isComplete(open)) continue;
      commands.push({ text: open, output: [] });
      open = null;
    } else {
      const last = commands.at(-1);
      if (last === undefined && line.trim() !== "") commands.push({ text: "", output: [] });
      commands.at(-1)?.output.push(hasPrompts ? line : line.replace(/^# {0,5}/, ""));
    }
  }
  if (open !== null) throw new Error(`The command has no end: ${open}`);
  return commands.map(({ text, output }) => ({ text, output: output.join("\n").trim() || null }));
}

/** A command goes on after a backslash and within quotes. */
function isComplete(command: string): boolean {
  const code = command.replaceAll(/(?:^|\s)#.*$/gm, "");
  return !code.endsWith("\\") && count(code, "'") % 2 === 0 && count(code.replaceAll(/'[^']*'/g, ""), '"') % 2 === 0;
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** Marks the places of variables in words, which have their values only when the command is run. */
const VARIABLE_MARK = "\u0001";

const END_OF_WORD = "\u0002";
const END_OF_PROGRAM = "\u0003";
const END_OF_COMMAND = "\u0004";

/**
 * Bash finds no program, and calls this function in place of each. What it writes is not the output of the command,
 * which may be sent to a file. The variables of the tests have their values already.
 */
const SHELL = `exec 3>&1
PATH=$HOME
shopt -s expand_aliases
export() { :; }
command_not_found_handle() {
  printf '%s${END_OF_WORD}' "$@" >&3
  printf '${END_OF_PROGRAM}' >&3
}`;

/**
 * The programs that each command runs, as bash reads its words. No program is run.
 *
 * @param names The variables that commands use. {@linkcode withVariables} sets their values.
 * @returns For each command a list of programs with their arguments.
 */
export async function wordsOf(commands: readonly string[], names: readonly string[]): Promise<string[][][]> {
  const folder = await Deno.makeTempDir();
  try {
    const env = Object.fromEntries(names.map((name) => [name, `${VARIABLE_MARK}${name}${VARIABLE_MARK}`]));
    const script = commands.map((command) => `${command}\nprintf '${END_OF_COMMAND}' >&3`).join("\n");
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: ["--norc", "-c", `${SHELL}\n${script}`],
      cwd: folder,
      clearEnv: true,
      env: { ...env, HOME: folder },
    }).output();
    const errors = new TextDecoder().decode(stderr);
    if (!success || errors !== "") throw new Error(`bash cannot read the commands: ${errors}`);
    return new TextDecoder().decode(stdout).split(END_OF_COMMAND).slice(0, -1).map((programs) =>
      programs.split(END_OF_PROGRAM).slice(0, -1).map((words) => words.split(END_OF_WORD).slice(0, -1))
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sets the variables in a word of {@linkcode wordsOf}. */
export function withVariables(word: string, values: Readonly<Record<string, string>>): string {
  return word.replaceAll(new RegExp(`${VARIABLE_MARK}(\\w+)${VARIABLE_MARK}`, "g"), (_, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The variable ${name} has no value`);
    return value;
  });
}
