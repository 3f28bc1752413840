/** A command line that cannot be carried out as it is. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
