import { parsedOrNull } from "../../conversation/neutral/wire_value.ts";

/** Older jobs are forgotten at the start: a task of the gateway has ended by then. */
const MAX_AGE_MS = 24 * 3_600_000;
/** The latest that a start reads. */
const MAX_JOBS = 1_000;
/** Longer texts are media that a request contained, which no state of a job shows. */
const MAX_TEXT_CHARACTERS = 10_000;

/**
 * A file with the jobs of a simulated vendor, so that a sandbox goes on with those of the one before it. A line has one
 * job as it was created; a cancellation is not kept, since the gateway has ended its task by then.
 */
export class KeptJobs<Job extends { readonly createdAt: number }> {
  /** Those of the sandboxes before, oldest first. */
  readonly earlier: readonly Job[];

  /**
   * Reads the file, and writes the jobs that are still wanted back to it.
   *
   * @param path The file, in a folder that exists.
   * @param options `now` is in Unix milliseconds. `isJob` tells whether a line has a job; a process that was killed may
   *     have left a part of its last line.
   */
  constructor(
    private readonly path: string,
    { now, isJob }: { readonly now: number; readonly isJob: (value: unknown) => value is Job },
  ) {
    const jobs = linesOf(path).map(parsedOrNull).filter(isJob);
    this.earlier = jobs.filter(({ createdAt }) => createdAt > now - MAX_AGE_MS).slice(-MAX_JOBS);
    Deno.writeTextFileSync(path, this.earlier.map(lineOf).join(""), { mode: 0o600 });
  }

  /** Keeps a job that was just created. */
  add(job: Job): void {
    Deno.writeTextFileSync(this.path, lineOf(job), { append: true, mode: 0o600 });
  }
}

function linesOf(path: string): string[] {
  try {
    return Deno.readTextFileSync(path).split("\n");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function lineOf(job: unknown): string {
  const short = (_: string, value: unknown) =>
    typeof value === "string" && value.length > MAX_TEXT_CHARACTERS ? "" : value;
  return `${JSON.stringify(job, short)}\n`;
}
