import { counted } from "../../../platform/lib/text/counted.ts";
import { verifyLedger } from "../../../money/billing/verify_ledger.ts";
import type { Config } from "../../../config/config.ts";
import { loadConfig } from "../../../config/load_config.ts";
import { writeMoney } from "../../../platform/lib/basics/money.ts";
import { readAdminArguments } from "./admin_arguments.ts";
import { openAdminApi } from "./admin_api.ts";
import { adminCallFor } from "./admin_call.ts";
import { GatewayUnreachableError } from "../command_errors.ts";
import { environmentOf } from "../environment.ts";
import { findGateway, type GatewaySelection, isConfigNamed } from "../find/find_gateway.ts";
import { removeIncompleteNotes } from "../../../platform/store/incomplete.ts";
import { print, printError } from "../print.ts";
import { errorTextOf } from "./print_result.ts";
import { redeliverRange } from "./redeliver_range.ts";
import { openStoppedStore } from "../store/stopped_store.ts";
import { UsageError } from "../usage_error.ts";
import { sendToKey } from "./named_key.ts";
import { inTypedNames } from "./typed_names.ts";

/**
 * Runs `accounts …`, `keys …`, `ledger …`, `tasks …`, `deliveries …` and the other commands of `admin_call.ts`, which
 * are the admin API on the command line. A running gateway is called, as it has its store locked. Without one the
 * command opens the store itself.
 *
 * @returns The exit code.
 */
export async function adminCommand(command: string, args: readonly string[]): Promise<number> {
  const { config: path, gateway, subcommand, rest } = readAdminArguments(command, args);
  const config = loadConfig({ path, env: environmentOf(path) });
  const selection = { gateway, isConfigNamed: isConfigNamed(path) };
  if (command === "ledger" && subcommand === "verify") {
    const isAccepted = rest.flag("accept-incomplete");
    rest.end();
    if (gateway !== undefined) {
      throw new UsageError("switchyard ledger verify: --gateway is not supported, as the command reads the store");
    }
    return await verify(config, selection, isAccepted);
  }
  const call = adminCallFor(command, subcommand, rest);
  const send = await openAdminApi(config, selection, call, printError);
  const { status, body } = await (call.isPaged ? redeliverRange(call, send, printError) : sendToKey(call, send));
  if (status >= 400) {
    printError(inTypedNames(errorTextOf({ status, body }), rest));
    return 1;
  }
  print(typeof body === "string" ? body.trimEnd() : JSON.stringify(body, null, 2));
  return call.tests !== undefined && (body as { ok?: unknown }).ok !== true ? 1 : 0;
}

async function verify(config: Config, selection: GatewaySelection, isAccepted: boolean): Promise<number> {
  const gateway = await findGateway(config, selection);
  if (gateway !== null) {
    throw new GatewayUnreachableError(
      `The ledger cannot be verified while a gateway runs at ${gateway.address}: stop the gateway first`,
    );
  }
  const store = await openStoppedStore(config, { mustExist: true });
  try {
    if (isAccepted) await removeIncompleteNotes(store);
    const { accounts, lines, differences } = await verifyLedger(store);
    for (const difference of differences) printError(JSON.stringify(difference, moneyAsDecimal));
    const entries = counted(lines, "ledger entry", "ledger entries");
    print(`${counted(accounts, "account")}, ${entries}, ${counted(differences.length, "difference")}`);
    if (differences.some(({ kind }) => kind === "incomplete")) printError(INCOMPLETE);
    return differences.length === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

const INCOMPLETE = "The store was copied from a running gateway without all of its files, so its last charges may be " +
  'missing. "switchyard backup" makes complete copies. To use this one as it is, run ' +
  '"switchyard ledger verify --accept-incomplete"';

/** A replacer for `JSON.stringify`: an amount becomes a decimal of USD. */
function moneyAsDecimal(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? writeMoney(value) : value;
}
