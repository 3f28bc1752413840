import { join } from "node:path";
import { type CodeBlock, placeOf } from "./code_blocks.ts";
import { compareOutput } from "./compare_output.ts";
import { runWords } from "./run_words.ts";
import { entryFor, type Scenario, type Session, type Stage } from "./scenario.ts";
import { shapeProblems } from "./shapes.ts";
import { type ShellCommand, shellCommandsOf, wordsOf } from "./shell_commands.ts";

/** The programs of each command, as bash reads them. */
type Words = ReadonlyMap<ShellCommand, readonly (readonly string[])[]>;

/**
 * Runs the commands of blocks in their order, and compares what they print with what the blocks show.
 *
 * @returns The problems, each with the place of its block.
 */
export async function runBlocks<S extends Stage>(
  session: Session<S>,
  blocks: readonly CodeBlock[],
  scenario: Scenario<S>,
): Promise<string[]> {
  const isScript = ({ language, text }: CodeBlock) =>
    language !== "json" && entryFor(scenario.shows, text) === undefined && entryFor(scenario.files, text) === undefined;
  const scripts = new Map(blocks.filter(isScript).map((block) => [block, shellCommandsOf(block)]));
  const commands = [...scripts.values()].flat();
  const words = await wordsOf(commands.map(({ text }) => text), Object.keys(session.variables));
  const programs: Words = new Map(commands.map((command, index) => [command, words[index] ?? []]));
  const problems: string[] = [];
  for (const block of blocks) {
    try {
      for (const command of scripts.get(block) ?? []) await runCommand(session, command, { scenario, programs });
      if (!scripts.has(block)) await compareBlock(session, block, scenario);
    } catch (error) {
      problems.push(`${placeOf(block)}: ${(error as Error).message}`);
    }
  }
  return problems;
}

async function runCommand<S extends Stage>(
  session: Session<S>,
  command: ShellCommand,
  { scenario, programs }: { readonly scenario: Scenario<S>; readonly programs: Words },
): Promise<void> {
  const { text, output } = command;
  await entryFor(scenario.before, text)?.(session);
  const run = entryFor(scenario.runs, text);
  if (run !== undefined) {
    session.printed.push({ text: await run(session, programs.get(command)?.[0] ?? []), isSuccess: true });
  } else for (const each of programs.get(command) ?? []) session.printed.push(await runWords(session, each, output));
  const last = session.printed.at(-1);
  if (last === undefined) {
    if (output !== null) throw new Error(`no program was run by ${text}`);
  } else if (output === null) {
    const refusal = entryFor(scenario.refused, text);
    const isExpected = refusal === undefined ? last.isSuccess : !last.isSuccess && last.text.includes(refusal);
    if (!isExpected) throw new Error(`${text}\nprinted ${last.text}`);
  } else if (scenario.shapes?.some((part) => text.includes(part))) {
    compareShapes(JSON.parse(output), JSON.parse(last.text));
  } else {
    compareOutput(session, output);
  }
}

async function compareBlock<S extends Stage>(
  session: Session<S>,
  { text }: CodeBlock,
  { before, files, shows, answers }: Scenario<S>,
): Promise<void> {
  const file = entryFor(files, text);
  if (file !== undefined) return await Deno.writeTextFile(join(session.stage.folder, file), text);
  await entryFor(before, text)?.(session);
  const [show, answer] = [entryFor(shows, text), entryFor(answers, text)];
  if (show !== undefined) session.printed.push({ text: await show(session), isSuccess: true });
  if (answer === undefined) return compareOutput(session, text);
  const sample = JSON.parse(text);
  compareShapes(sample, await answer(session, sample));
}

function compareShapes(sample: unknown, answer: unknown): void {
  const problems = shapeProblems(sample, answer);
  if (problems.length > 0) throw new Error(`${problems.join("\n")}\nin ${JSON.stringify(answer)}`);
}
