/**
 * Reads a command line argument.
 *
 * @param name The argument's name, for the error.
 * @throws {Error} If it is missing.
 */
export function argument(index: number, name: string): string {
  const text = Deno.args[index];
  if (text === undefined) throw new Error(`Missing argument ${index + 1}: expected ${name}`);
  return text;
}
