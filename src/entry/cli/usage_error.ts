/** A command line that is not valid. The message begins with the command. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
