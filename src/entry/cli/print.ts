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
    console.log(printable(text));
  } catch (error) {
    throw new OutputError(`Cannot write the output: ${(error as Error).message}`, { cause: error });
  }
}

/** Prints a message to the standard error output, as {@linkcode print} does. */
export function printError(text: string): void {
  console.error(printable(text));
}

/** Characters that control a terminal, except for tabs and ends of lines, also those of CSV, or that reorder a line. */
const CONTROLS = /\r(?!\n)|[^\P{Cc}\r\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text as a terminal may get it. Names and messages come from other programs and from callers; a sequence of control
 * characters in one could change what was printed before. They are written as JSON writes them, so that JSON keeps its
 * meaning.
 */
export function printable(text: string): string {
  return text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
