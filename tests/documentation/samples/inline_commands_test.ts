import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { COMMANDS } from "../../../src/entry/cli/help/help.ts";
import { ROOT } from "../../architecture/source_files.ts";
import { readPages } from "./code_blocks.ts";
import { optionsOf, TASKS } from "./run_words.ts";

/** The commands in texts and tables of a page, without what is in blocks. */
function inlineCommandsOf(text: string): string[] {
  const prose = text.replaceAll(/^ *(`{3,})[^]*?^ *\1$/gm, "");
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll(/\s+/g, " ").replaceAll("\\|", "|"));
}

/** What is wrong with a command: its words, an option or the name of a task. */
function problemOf(command: string): string | null {
  const [, task] = /^(?:npx -y deno@2\.9\.6|deno) task ([a-z][\w:-]*)/.exec(command) ?? [];
  if (task !== undefined && !Object.hasOwn(TASKS, task)) return `there is no task ${task}`;
  const [, line] = /^(?:switchyard|npx -y deno@2\.9\.6 task switchyard) ([a-z].*)$/.exec(command) ?? [];
  if (line === undefined || COMMANDS.some(({ words }) => words.startsWith(`${line} `))) return null;
  try {
    optionsOf(line.replaceAll(/[[\]]/g, "").split(" "));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

Deno.test("documentation: the commands and tasks in texts and tables exist, with their options", async () => {
  const found: string[] = [];
  let checked = 0;
  for (const page of await readPages()) {
    for (const command of inlineCommandsOf(await Deno.readTextFile(join(ROOT, page)))) {
      if (/^(?:switchyard |npx |deno task )/.test(command)) checked++;
      const problem = problemOf(command);
      if (problem !== null) found.push(`${page}: ${command}: ${problem}`);
    }
  }
  assertEquals(found, []);
  assert(checked > 100, `${checked} commands`);
});

Deno.test("documentation: a command with an unknown option is a problem", () => {
  assertEquals(problemOf("switchyard usage --group-by key"), null);
  assertEquals(problemOf("switchyard usage --grop-by key"), "the command usage takes no option --grop-by");
  assertEquals(problemOf("deno task tset"), "there is no task tset");
});
