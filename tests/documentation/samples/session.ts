import { type CodeBlock, placeOf } from "./code_blocks.ts";
import { compareOutput } from "./compare_output.ts";
import type { Printed } from "./printed.ts";
import { runWords } from "./run_words.ts";
import { shellCommandsOf, wordsOf } from "./shell_commands.ts";

/** A gateway on which samples are run. */
export interface Stage {
  readonly address: string;
  readonly adminKey: string;
  /** Has `switchyard.yaml`, and the files that commands name. */
  readonly folder: string;
  /** The variables of commands: `KEY`, `BASE`. */
  readonly variables: Readonly<Record<string, string>>;
  /** What the gateway printed at its start. */
  readonly greeting?: string;
  stop(): Promise<void>;
}

/** What the samples of a page share. */
export interface Session {
  readonly stage: Stage;
  readonly variables: Record<string, string>;
  /** Texts of the page, each with the text that it stands for in this run: dates, addresses. */
  readonly replaced: Map<string, string>;
  /** The id of this run for each id that a sample showed. */
  readonly ids: Map<string, string>;
  /** Everything that was printed so far. */
  readonly printed: Printed[];
}

/** How the samples of a page are run. */
export interface Scenario {
  readonly page: string;
  /** Only the blocks below this heading. */
  readonly heading?: string;
  /** Is called before each command, or block of JSON, that has the text of a key. */
  readonly before?: Readonly<Record<string, (session: Session) => Promise<void> | void>>;
  /** By a text of a command that the gateway refuses: a part of the message. */
  readonly refused?: Readonly<Record<string, string>>;
  /**
   * By a text of a block of JSON: what it shows. The names and types of the fields are compared. Other blocks of JSON
   * show what the command before them printed, which is compared in full.
   */
  readonly answers?: Readonly<Record<string, (session: Session, sample: unknown) => Promise<unknown>>>;
}

/** The session of a scenario on a gateway. */
export function sessionOn(stage: Stage): Session {
  const replaced = new Map([["127.0.0.1:8787", new URL(stage.address).host]]);
  return { stage, variables: { ...stage.variables }, replaced, ids: new Map(), printed: [] };
}

/**
 * Runs the commands of blocks in their order, and compares what they print with what the blocks show.
 *
 * @returns The problems, each with the place of its block.
 */
export async function runBlocks(
  session: Session,
  blocks: readonly CodeBlock[],
  { before = {}, answers = {}, refused = {} }: Omit<Scenario, "page"> = {},
): Promise<string[]> {
  const scripts = new Map(
    blocks.filter(({ language }) => language !== "json").map((block) => [block, shellCommandsOf(block)]),
  );
  const commands = [...scripts.values()].flat();
  const words = await wordsOf(commands.map(({ text }) => text), Object.keys(session.variables));
  const wordsByCommand = new Map(commands.map((command, index) => [command, words[index] ?? []]));
  const prepare = async (text: string) => {
    for (const [part, run] of Object.entries(before)) if (text.includes(part)) await run(session);
  };
  const problems: string[] = [];
  for (const block of blocks) {
    try {
      const script = scripts.get(block);
      if (script === undefined) {
        await prepare(block.text);
        const answer = Object.entries(answers).find(([part]) => block.text.includes(part))?.[1];
        if (answer !== undefined) await compareShapes(session, block.text, answer);
        else compareOutput(session, block.text);
      }
      for (const command of script ?? []) {
        await prepare(command.text);
        for (const program of wordsByCommand.get(command) ?? []) {
          session.printed.push(await runWords(session, program, command.output));
        }
        if (command.output !== null) compareOutput(session, command.output);
        else compareEnd(session, Object.entries(refused).find(([part]) => command.text.includes(part))?.[1] ?? null);
      }
    } catch (error) {
      problems.push(`${placeOf(block)}: ${(error as Error).message}`);
    }
  }
  return problems;
}

/** Expects that the last command succeeded, or that its message has a text. */
function compareEnd({ printed }: Session, refusal: string | null): void {
  const last = printed.at(-1);
  if (last === undefined) throw new Error("no program was run");
  const isExpected = refusal === null ? last.isSuccess : !last.isSuccess && last.text.includes(refusal);
  if (!isExpected) throw new Error(`it printed ${last.text}`);
}

type Answer = NonNullable<Scenario["answers"]>[string];

async function compareShapes(session: Session, text: string, answerOf: Answer): Promise<void> {
  const sample = JSON.parse(text);
  const answer = await answerOf(session, sample);
  const problems = shapeProblems(sample, answer);
  if (problems.length > 0) throw new Error(`${problems.join("\n")}\nin ${JSON.stringify(answer)}`);
}

/**
 * The differences between the shape of a sample and that of an answer: names of fields, and types of values. Null has
 * any type. A field `…` in a sample stands for further fields, and a text `…` for any value. Of lists, the first
 * elements are compared.
 */
export function shapeProblems(sample: unknown, answer: unknown, path = "the answer"): string[] {
  if (sample === null || answer === null || sample === "…") return [];
  if (Array.isArray(sample) || Array.isArray(answer)) {
    if (!Array.isArray(sample) || !Array.isArray(answer)) return [`${path}: only one of them is a list`];
    return sample.length === 0 || answer.length === 0 ? [] : shapeProblems(sample[0], answer[0], `${path}[0]`);
  }
  if (typeof sample !== typeof answer) return [`${path}: the sample has a ${typeof sample}, not a ${typeof answer}`];
  if (typeof sample !== "object" || typeof answer !== "object") return [];
  const [shown, real] = [new Map(Object.entries(sample)), new Map(Object.entries(answer))];
  const lacking = shown.has("…") ? [] : [...real.keys()].filter((name) => !shown.has(name));
  const unknown = [...shown.keys()].filter((name) => name !== "…" && !real.has(name));
  return [
    ...lacking.map((name) => `${path}: the sample lacks ${name}`),
    ...unknown.map((name) => `${path}: only the sample has ${name}`),
    ...[...shown].filter(([name]) => real.has(name)).flatMap(([name, value]) =>
      shapeProblems(value, real.get(name), `${path}.${name}`)
    ),
  ];
}
