import { run } from "../../src/entry/cli/run.ts";

/** What a command that has ended printed. */
export interface EndedCommand {
  /** The exit code of the process that it would be. */
  readonly code: number;
  /** Its standard output. */
  readonly said: string;
  /** Its error output, trimmed. */
  readonly complaint: string;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of the program to its end, as `main.ts` does, but in this thread: a process takes a second to load.
 * Not for commands that read their folder or their environment, and not for those that run until they are stopped:
 * `startGatewayProcess` starts these. Commands that are started at once run one after the other.
 *
 * @param args The command line without the program's name. Paths are absolute.
 * @throws {Error} What the process would print with a stack trace.
 */
export function runCommand(args: readonly string[]): Promise<EndedCommand> {
  const ended = last.then(() => runAlone(args));
  last = ended.catch(() => {});
  return ended;
}

async function runAlone(args: readonly string[]): Promise<EndedCommand> {
  const { log, error } = console;
  let said = "";
  let complaint = "";
  console.log = (text: string) => void (said += `${text}\n`);
  console.error = (text: string) => void (complaint += `${text}\n`);
  try {
    const code = await run(args);
    return { code, said, complaint: complaint.trim() };
  } finally {
    console.log = log;
    console.error = error;
  }
}
