/**
 * An argument of the command line.
 *
 * @param name What it is, for the error.
 * @throws {Error} If it is missing.
 */
export function argument(index: number, name: string): string {
  const text = Deno.args[index];
  if (text === undefined) throw new Error(`Missing argument ${index + 1}: expected ${name}`);
  return text;
}
