import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "./usage_error.ts";

/** The options and words of a command line, as `parseArgs` of `node:util` returns them. */
export type ParsedOptions<T extends ParseArgsConfig> = ReturnType<typeof parseArgs<T & { args: string[] }>>;

/**
 * Reads the arguments of a command. All commands word their mistakes alike, and as people typed them.
 *
 * @param command The words of the command, for the message.
 * @param args The arguments after them.
 * @throws {UsageError} For an unknown option, an option without its value or with one that it does not take, and for
 * words where none are expected.
 */
export function parseOptions<T extends ParseArgsConfig>(
  command: string,
  args: readonly string[],
  config: T,
): ParsedOptions<T> {
  try {
    return parseArgs({ ...config, args: [...args] });
  } catch (error) {
    throw new UsageError(`switchyard ${command}: ${mistakeIn((error as Error).message)}`);
  }
}

/** The message for an option that a command does not have. */
export function unknownOption(option: string): string {
  return `unknown option "${option}"`;
}

/** The message for a word that a command does not take. */
export function unexpectedArgument(word: string): string {
  return `unexpected argument "${word}"`;
}

const OPTION = /'(?:-\w, )?(--?[^\s']+)/;

/** What the message of `parseArgs` means. */
function mistakeIn(message: string): string {
  const option = OPTION.exec(message)?.[1];
  if (message.startsWith("Unexpected argument")) return unexpectedArgument(/'([^']*)'/.exec(message)?.[1] ?? "");
  if (option === undefined) return message;
  if (message.startsWith("Unknown option")) return unknownOption(option);
  return message.includes("does not take") ? `${option} takes no value` : `${option} needs a value`;
}
