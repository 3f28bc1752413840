import { basename, join } from "node:path";
import { COMMANDS } from "../../../src/entry/cli/help/help.ts";
import { ROOT } from "../../architecture/source_files.ts";
import { curl } from "./curl.ts";
import { compareTexts } from "./expected_output.ts";
import type { Printed } from "./printed.ts";
import { runProgram } from "./program.ts";
import type { Session } from "./scenario.ts";
import { withVariables } from "./shell_commands.ts";

/** The tasks of the repository, by name. */
export const TASKS: Readonly<Record<string, { readonly command: string }>> =
  JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json"))).tasks;

/** Runs a program of a command, with the values of variables and of ids in this run. */
export async function runWords(session: Session, words: readonly string[], output: string | null): Promise<Printed> {
  const [program, ...args] = words.map((word) => realWord(session, withVariables(word, session.variables)));
  switch (program) {
    case "curl": {
      const isCut = output !== null && args.some((word) => /^-i?N$/.test(word));
      const shown = args.includes("-iN") ? output?.replace(/^(?:[a-z-]+: [^\n]*\n)+\n/, "") : output;
      const isEnough = (body: string) => isCut && compareTexts(`${shown}…`, body).problem === null;
      const response = await curl(args, session.stage.folder, isEnough);
      return { text: response.body, isSuccess: response.status < 400, isCut, response };
    }
    case "switchyard":
      return await runSwitchyard(session, args);
    case "npx":
      return await runNpx(session, args);
  }
  throw new Error(`the program ${program} is not run by tests of samples`);
}

const CUT_ID = /(?:\b[a-z]+_|\b)[0-9a-z]+-?…/;

/** A word with the addresses and ids of this run. An id that no sample showed in full is the last that was printed. */
function realWord({ replaced, ids, printed }: Session, word: string): string {
  let real = word;
  for (const [part, own] of [...replaced, ...ids].toSorted(([a], [b]) => b.length - a.length)) {
    real = real.replaceAll(part, own);
  }
  const [cut] = CUT_ID.exec(real) ?? [];
  if (cut === undefined || word.includes(" ")) return real;
  const prefix = /^[a-z]+_/.exec(cut)?.[0] ?? "";
  const id = prefix === "" ? "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}" : `${prefix}\\w+`;
  const texts = printed.flatMap(({ text, response }) => [text, ...response?.head ?? []]).join("\n");
  const found = [...texts.matchAll(new RegExp(id, "g"))].at(-1)?.[0];
  if (found === undefined) throw new Error(`nothing was printed that ${cut} can stand for`);
  return real.replace(cut, found);
}

/** These commands run for as long as the gateway; of them only the options are checked. */
const GATEWAY_COMMANDS: readonly (string | undefined)[] = ["serve", "dev"];

/** Runs a command as if the folder of the stage were the working folder. */
async function runSwitchyard({ stage }: Session, args: readonly string[]): Promise<Printed> {
  const { folder, address } = stage;
  const options = optionsOf(args);
  if (GATEWAY_COMMANDS.includes(args[0])) return { text: stage.greeting ?? "", isSuccess: true };
  const line = args.map((word) => /^[\w./-]+\.(?:yaml|json|tar)$/.test(word) ? join(folder, basename(word)) : word);
  const isNamed = line.includes("--config") || (args[1] === "check" && line.length > 2);
  if (options.includes("--config") && !isNamed) line.push("--config", join(folder, "switchyard.yaml"));
  if (options.includes("--output")) line.push("--output", join(folder, "switchyard.yaml"));
  if (options.includes("--env-file")) line.push("--env-file", join(folder, ".env"));
  if (options.includes("--gateway")) line.push("--gateway", address);
  const { code, output } = await runProgram(line);
  return { text: output, isSuccess: code === 0 };
}

/**
 * The options of a command.
 *
 * @throws {Error} If there is no such command, or it does not take an option of the line.
 */
export function optionsOf(args: readonly string[]): string[] {
  const named = COMMANDS.filter(({ words }) => `${args.join(" ")} `.startsWith(`${words} `));
  const command = named.toSorted((a, b) => b.words.length - a.words.length)[0];
  if (command === undefined) throw new Error(`there is no command ${args.join(" ")}`);
  const names = [...command.options.map(({ name }) => name), "--help"];
  const unknown = args.find((word) => word.startsWith("--") && !names.includes(word));
  if (unknown !== undefined) throw new Error(`the command ${command.words} takes no option ${unknown}`);
  return names;
}

/** Tasks that are commands. */
const COMMANDS_OF_TASKS: Readonly<Record<string, readonly string[]>> = {
  switchyard: [],
  dev: ["dev"],
  start: ["serve"],
};

/** `npx -y deno@VERSION task …` runs a command. Of other tasks, and of `test`, only the words are checked. */
async function runNpx(session: Session, [yes, deno, verb, ...words]: readonly string[]): Promise<Printed> {
  const [task = "", ...args] = words[0] === "--frozen=false" ? words.slice(1) : words;
  if (yes !== "-y" || deno !== "deno@2.9.6") throw new Error(`expected npx -y deno@2.9.6, got npx ${yes} ${deno}`);
  const command = verb === "task" ? COMMANDS_OF_TASKS[task] : undefined;
  if (command !== undefined) return await runSwitchyard(session, [...command, ...args]);
  const isKnown = verb === "task"
    ? Object.hasOwn(TASKS, task)
    : verb === "test" && await isTestOfFolder([task, ...args].join(" "));
  if (!isKnown) throw new Error(`there is no task or test for ${[verb, task, ...args].join(" ")}`);
  return { text: "", isSuccess: true };
}

/** Whether these are the options of `deno task test`, with a folder of tests at the end. */
async function isTestOfFolder(args: string): Promise<boolean> {
  const options = TASKS.test?.command.replace(/^deno test (.*) tests\/$/, "$1 ") ?? "";
  if (!args.startsWith(options)) return false;
  return (await Deno.stat(join(ROOT, args.slice(options.length)))).isDirectory;
}
