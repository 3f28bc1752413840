/** The standard output took nothing, so what a command has to say is lost. */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

/**
 * Prints what a command answers. It waits for the reader of a pipe; one that has gone wants no more.
 *
 * @throws {OutputError} If the output cannot be written, as on a full disk.
 */
export function print(text: string): void {
  try {
    console.log(text);
  } catch (error) {
    throw new OutputError(`Cannot write the output: ${(error as Error).message}`, { cause: error });
  }
}
