import { adminCommand } from "./admin.ts";
import { GatewayUnreachableError } from "./admin_api.ts";
import { StoreBusyError } from "./find_gateway.ts";
import { ADMIN_COMMANDS } from "./admin_call.ts";
import { checkCommand } from "./check.ts";
import { OutputError, print } from "./print.ts";
import { dev, serve } from "./serve.ts";
import { UsageError } from "./usage_error.ts";
import { webhooksCommand } from "./webhooks.ts";
import { ConfigError } from "../config/config_error.ts";
import { UnwritableError } from "../lib/unwritable.ts";
import { StoreFileError, StoreMissingError } from "../store/kv/database_file.ts";
import { StoreInUseError } from "../store/kv/process_lock.ts";
import { VERSION } from "./version.ts";

const HELP = `switchyard ${VERSION}: one address in front of many model vendors

  switchyard serve [--config FILE]       start the gateway
    [--show-secrets]                     prints the webhook secrets of accounts that it makes
  switchyard dev                         start it with simulated vendors; no keys needed
  switchyard config check [FILE]         read a configuration and say what is wrong with it

  switchyard accounts create ID [--balance USD]
  switchyard accounts list | show ID | suspend ID | resume ID
  switchyard accounts credit ID USD [--reference TEXT]
  switchyard accounts adjust ID USD --reason TEXT [--reference TEXT] [--allow-negative]
                                         adds to a balance, or takes away: -4.20
  switchyard accounts allow-buckets ID [BUCKET...]
                                         buckets that its requests may name, in the place of others
  switchyard accounts allow-buckets ID [BUCKET…]
                                         buckets that its requests may name, in the place of those before
  switchyard keys create ACCOUNT         shows the key once
  switchyard keys list ACCOUNT | revoke ACCOUNT KEY
  switchyard webhook-secrets rotate ACCOUNT
                                         shows the new secret once; the old one is good for a day more
  switchyard ledger list ACCOUNT [--order desc] [--limit N] [--after NEXT]
  switchyard ledger verify               of a stopped gateway: checks that every balance is the sum of its lines

  switchyard tasks list [--account ID] [--status WORD] [--model ID] [--from SECONDS] [--to SECONDS]
    [--order asc] [--limit N] [--after NEXT]
  switchyard tasks show ID
  switchyard tasks mirror ID             copies the results of a finished task anew
  switchyard deliveries list [--state WORD] [--from SECONDS] [--to SECONDS] [--order asc] [--limit N] [--after NEXT]
  switchyard deliveries show TASK        the webhook of a task, with every attempt
  switchyard deliveries request TASK     what its receiver would be sent now
  switchyard deliveries redeliver TASK   a new round of attempts, beginning now
  switchyard deliveries redeliver --from SECONDS --to SECONDS [--state exhausted|delivered] [--after NEXT]
  switchyard providers list              circuits and counts; asks a running gateway
  switchyard signing-keys rotate         a new key for the addresses of results; the one before stays good

  switchyard webhooks listen             prints and checks the webhooks of a running gateway as they come
    [--forward URL] [--account ID]       and posts them on, to an application under development
  switchyard webhooks trigger EVENT      makes a test event, such as video.generation.completed,
    [--url URL] [--account ID]           for an address, or for those who listen

  switchyard version | help

The commands below "config" take --config FILE too. They ask the gateway that runs, by its admin API (server.admin_key):
the one on the configured store or at the configured address, the one that "dev" runs in this folder, or --gateway URL.
When none runs they read its store, which "accounts create" alone makes.`;

/**
 * Runs one command.
 *
 * @param args Without the program's name.
 * @returns The exit code: 0, 1 for a failure, 2 for a mistake in the command line or the configuration.
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    return await dispatch(args);
  } catch (error) {
    if (error instanceof UsageError) return complain(2, `${error.message}\nTry "switchyard help".`);
    if (error instanceof ConfigError) return complain(2, error.problems.join("\n"));
    const expected = EXPECTED.some((kind) => error instanceof kind);
    if (expected) return complain(1, `switchyard: ${(error as Error).message}`);
    throw error;
  }
}

/** Failures that one line tells in full. */
const EXPECTED = [
  StoreInUseError,
  StoreBusyError,
  StoreFileError,
  StoreMissingError,
  UnwritableError,
  GatewayUnreachableError,
  OutputError,
  Deno.errors.AddrInUse,
  Deno.errors.PermissionDenied,
  Deno.errors.NotCapable,
];

async function dispatch([command = "help", ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case "serve":
      return await serve(rest);
    case "dev":
      return await dev(rest);
    case "config":
      return checkCommand(rest);
    case "webhooks":
      return await webhooksCommand(rest);
    case "version":
    case "--version":
      print(VERSION);
      return 0;
    case "help":
    case "--help":
    case "-h":
      print(HELP);
      return 0;
  }
  if (ADMIN_COMMANDS.has(command)) return await adminCommand(command, rest);
  throw new UsageError(`switchyard: there is no command "${command}"`);
}

function complain(code: number, message: string): number {
  try {
    console.error(message);
  } catch { /* Nobody can be told: the exit code says it. */ }
  return code;
}
