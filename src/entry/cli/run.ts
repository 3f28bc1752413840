import { ConfigError } from "../../config/tree/config_error.ts";
import { FilesUnavailableError } from "../../platform/files/files.ts";
import { ListenError } from "../../platform/http/listen_error.ts";
import { UnwritableError } from "../../platform/lib/process/unwritable.ts";
import { stackOf } from "../../platform/lib/process/unhandled.ts";
import { StoreFileError, StoreMissingError } from "../../platform/store/kv/database_file.ts";
import { StoreInUseError } from "../../platform/store/kv/process_lock.ts";
import { StoreUnusableError } from "../../platform/store/store_unusable_error.ts";
import { BackupError, GatewayUnreachableError, StoreBusyError, StoreNotMigratedError } from "./command_errors.ts";
import { OutputError, print, printError } from "./print.ts";
import { UsageError } from "./usage_error.ts";
import { denoProblem, describeVersion } from "./version.ts";

/**
 * Runs one command.
 *
 * @param args The command line without the program's name.
 * @returns The exit code: 0 for success, 1 for a failure, 2 for an invalid command line or configuration. The stack of
 * an error that is not expected is printed.
 */
export async function run(args: readonly string[]): Promise<number> {
  const problem = denoProblem(Deno.version.deno);
  if (problem !== null) return endWithError(1, problem);
  try {
    return await dispatch(args);
  } catch (error) {
    if (error instanceof UsageError) return endWithError(2, await adviceFor(error, args));
    if (error instanceof ConfigError) return endWithError(2, error.problems.join("\n"));
    if (isExpected(error)) return endWithError(1, `switchyard: ${error.message}`);
    // Once the gateway's output is open, the platform would log the error and end with exit code 0.
    return endWithError(1, `switchyard: unexpected error: ${stackOf(error)}`);
  }
}

/** Failures whose message is enough, so that no stack trace is printed. */
const EXPECTED_ERRORS = [
  StoreInUseError,
  StoreBusyError,
  StoreFileError,
  StoreUnusableError,
  StoreMissingError,
  StoreNotMigratedError,
  UnwritableError,
  FilesUnavailableError,
  GatewayUnreachableError,
  BackupError,
  OutputError,
  ListenError,
  Deno.errors.PermissionDenied,
  Deno.errors.NotCapable,
];

function isExpected(error: unknown): error is Error {
  return EXPECTED_ERRORS.some((kind) => error instanceof kind);
}

/** Each command is loaded when it is run, so that a gateway does not hold the code of the other commands in memory. */
async function dispatch(args: readonly string[]): Promise<number> {
  const [command = "help", ...rest] = args;
  if (args.length === 0 || args.some((word) => HELP_WORDS.has(word))) {
    const { helpFor, wordsOfHelp } = await import("./help/help.ts");
    const words = wordsOfHelp(args);
    if (words !== null) {
      print(helpFor(words));
      return 0;
    }
  }
  switch (command) {
    case "serve":
      return await (await import("./serve.ts")).serve(rest);
    case "init":
      return await (await import("./init.ts")).init(rest);
    case "dev":
      return await (await import("./dev.ts")).dev(rest);
    case "config":
      if (rest[0] === "schema") return await (await import("./config_schema.ts")).configSchemaCommand(rest.slice(1));
      return rest[0] === "check"
        ? await (await import("./check.ts")).checkCommand(rest)
        : await (await import("./admin/config_command.ts")).configCommand(rest);
    case "backup":
      return await (await import("./store/backup.ts")).backupCommand(rest);
    case "restore":
      return await (await import("./store/restore.ts")).restoreCommand(rest);
    case "import":
      return await (await import("./import.ts")).importCommand(rest);
    case "models":
      return await (await import("./import.ts")).modelsCommand(rest);
    case "store":
      return await (await import("./store/store_command.ts")).storeCommand(rest);
    case "doctor":
      return await (await import("./doctor.ts")).doctor(rest);
    case "webhooks":
      return await (await import("./webhooks.ts")).webhooksCommand(rest);
    case "reconcile":
      return await (await import("./admin/reconcile.ts")).reconcileCommand(rest);
    case "usage":
      return await (await import("./admin/usage.ts")).usageCommand(rest);
    case "requests":
    case "explain":
      return await (await import("./admin/requests.ts")).requestsCommand(command, rest);
    case "version":
    case "--version":
      print(await describeVersion());
      return 0;
    case "completion":
      print((await import("./help/completion.ts")).completionFor(rest));
      return 0;
  }
  const { ADMIN_COMMANDS } = await import("./admin/admin_call.ts");
  if (ADMIN_COMMANDS.has(command)) return await (await import("./admin/admin.ts")).adminCommand(command, rest);
  const { unknownCommand } = await import("./help/help.ts");
  throw new UsageError(unknownCommand(command));
}

const HELP_WORDS: ReadonlySet<string> = new Set(["help", "--help", "-h"]);
const UNKNOWN_OPTION = /unknown option "(--[\w-]+)"/;

/** The message of an invalid command line, with the option that was probably meant and where help is. */
async function adviceFor({ message }: UsageError, args: readonly string[]): Promise<string> {
  const { helpWords, optionAdvice } = await import("./help/help.ts");
  const unknown = UNKNOWN_OPTION.exec(message)?.[1];
  const meant = unknown === undefined ? "" : optionAdvice(args, unknown);
  return `${message}${meant}\nTry "switchyard ${["help", ...helpWords(args)].join(" ")}".`;
}

function endWithError(exitCode: number, message: string): number {
  try {
    printError(message);
  } catch { /* The error output is closed. The exit code still reports the failure. */ }
  return exitCode;
}
