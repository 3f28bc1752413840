import { itemAt } from "../support/items.ts";
import { expect, expectText, type Scenario, type ScenarioName } from "./program.ts";
import type { ProgramOutput, Session } from "./session.ts";

/** A coding agent that runs one prompt without a terminal and prints the answer. */
export interface Agent {
  /** Passes the prompt to the program, which may run its tools without confirmation. */
  run(session: Session, prompt: string): Promise<ProgramOutput>;
  /** A directive that makes the model call the program's shell with this command. */
  shell(command: string): string;
}

/** The scenarios that all coding agents share. */
export function agentScenarios(
  { run, shell }: Agent,
): Record<Extract<ScenarioName, "plain" | "tools" | "parallel tools" | "error">, Scenario> {
  return {
    async plain(session) {
      const { code, stdout } = await run(session, "[[say Hello from the model]]");
      expectText(stdout, "Hello from the model");
      expect(code === 0, `exit code ${code}`);
    },
    async tools(session) {
      const order = shell("echo made by the tool | tr a-z A-Z");
      const { stdout } = await run(session, order);
      const name = itemAt(/\[\[tool (\S+)/.exec(order)!, 1);
      const isOffered = session.exchanges.some(({ requestBody }) => offersTool(requestBody, name));
      expect(isOffered, "the program sends no tools");
      expectText(stdout, " answered: ");
      expectText(stdout, "MADE BY THE TOOL");
    },
    async "parallel tools"(session) {
      const { stdout } = await run(
        session,
        `${shell("echo the first | tr a-z A-Z")} ${shell("echo the second | tr a-z A-Z")}`,
      );
      expectText(stdout, "THE FIRST");
      expectText(stdout, "THE SECOND");
    },
    async error(session) {
      const { code, stdout, stderr } = await run(session, "[[fail 400 The vendor does not like this]]");
      expectText(stdout + stderr, "The vendor does not like this");
      expect(code !== 0, "exit code 0");
    },
  };
}

/** True where a request declares the tool, in any of the wire formats: the simulated model calls any tool. */
function offersTool(requestBody: string, name: string): boolean {
  return jsonLines(requestBody).some(({ tools }) => JSON.stringify(tools ?? []).includes(`"name":"${name}"`));
}

/**
 * Fails a scenario whose program does not show reasoning. Says so where the gateway's answers held none to show: the
 * vendor counts thoughts and keeps them, unless it is asked to show them in a way that the program does not know.
 *
 * @throws {Error} If `areShown` is false.
 */
export function expectThoughts(areShown: boolean, { exchanges }: Session): void {
  if (areShown) return;
  const answers = exchanges.map(({ responseBody }) => responseBody).join("\n");
  const counted = /"(reasoning_tokens|thinking_tokens|thoughtsTokenCount)":\s*[1-9]/.test(answers);
  const shown = /"(reasoning_content|thinking_delta|reasoning_summary_text)|"thought":\s*true/.test(answers);
  expect(!counted || shown, "the vendor counts reasoning and does not return it");
  const asked = exchanges.some(({ requestBody }) => /"(reasoning_effort|reasoning|thinking)":/.test(requestBody));
  expect(counted || asked, "the program does not request reasoning");
  expect(shown, "the program requests reasoning, and the vendor does not return it");
  throw new Error("the program does not show reasoning");
}

/**
 * Reads lines of JSON; other lines are skipped.
 *
 * @returns Values of any type; the caller knows the program's format.
 */
// deno-lint-ignore no-explicit-any
export function jsonLines(text: string): any[] {
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
