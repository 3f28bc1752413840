/** A configuration that is not valid. It has all problems; the command prints them and ends with exit code 2. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  /** @param problems One line each: `file: path.to.field: expected …, got …`. No line contains a secret. */
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}
