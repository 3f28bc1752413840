/** A configuration that cannot be used. Thrown with every mistake at once; the command prints them and ends with 2. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  /** @param problems One line each: `file: path.to.field: expected …, got …`. None holds a secret. */
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}
