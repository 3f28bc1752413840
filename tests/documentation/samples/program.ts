import { run } from "../../../src/entry/cli/run.ts";

/** What a command printed, to both outputs in their order, and its exit code. */
export interface ProgramResult {
  readonly code: number;
  readonly output: string;
}

/** Runs a `switchyard` command in this process. One command runs at a time, as it takes over the console. */
export async function runProgram(args: readonly string[]): Promise<ProgramResult> {
  const { log, error } = console;
  const lines: string[] = [];
  console.log = console.error = (line: string) => void lines.push(line);
  try {
    const code = await run(args);
    return { code, output: lines.join("\n") };
  } finally {
    console.log = log;
    console.error = error;
  }
}
