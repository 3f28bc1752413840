/** The standard output cannot be written. */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

/**
 * Prints the result of a command. Blocks while a pipe is full. A closed pipe is not an error.
 *
 * @throws {OutputError} If the output cannot be written, for example to a full disk.
 */
export function print(text: string): void {
  try {
    console.log(text);
  } catch (error) {
    throw new OutputError(`Cannot write the output: ${(error as Error).message}`, { cause: error });
  }
}
