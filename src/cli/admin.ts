import { verifyLedger } from "../billing/verify_ledger.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load_config.ts";
import { writeMoney } from "../lib/money.ts";
import { GatewayUnreachableError, openAdminApi, openStoppedApp } from "./admin_api.ts";
import { adminCallFor } from "./admin_call.ts";
import { readAdminArguments } from "./admin_arguments.ts";
import { findGateway, type GatewayWish, isNamed } from "./find_gateway.ts";
import { print } from "./print.ts";
import { redeliverRange } from "./redeliver_range.ts";
import { UsageError } from "./usage_error.ts";

/**
 * `accounts …`, `keys …`, `ledger …`, `tasks …`, `deliveries …` and the others that `admin_call.ts` lists: the admin
 * API as commands. A running gateway, which owns its store, is called; the store of a stopped one is opened directly.
 */
export async function adminCommand(command: string, args: readonly string[]): Promise<number> {
  const { config: path, gateway, verb, line } = readAdminArguments(command, args);
  const config = loadConfig({ path, env: (name) => Deno.env.get(name) });
  const wish = { gateway, isNamed: isNamed(path) };
  if (command === "ledger" && verb === "verify") {
    line.end();
    if (gateway !== undefined) throw new UsageError("switchyard ledger verify: it reads a store, not a --gateway");
    return await verify(config, wish);
  }
  const call = adminCallFor(command, verb, line);
  const ask = await openAdminApi(config, wish, call, console.error);
  const { status, body } = await (call.goesOn ? redeliverRange(call, ask, console.error) : ask(call));
  if (status >= 400) {
    console.error(messageIn(body) ?? `the admin API answered ${status}`);
    return 1;
  }
  print(JSON.stringify(body, null, 2));
  return 0;
}

function messageIn(body: unknown): string | null {
  const error = (body as { error?: { message?: unknown } } | null)?.error;
  return typeof error?.message === "string" ? error.message : null;
}

async function verify(config: Config, wish: GatewayWish): Promise<number> {
  const gateway = await findGateway(config, wish);
  if (gateway !== null) {
    throw new GatewayUnreachableError(
      `A gateway runs at ${gateway.address}: stop it first, as this reads a store directly`,
    );
  }
  const app = await openStoppedApp(config, { mustExist: true });
  try {
    const { accounts, lines, differences } = await verifyLedger(app.store);
    for (const difference of differences) console.error(JSON.stringify(difference, decimals));
    print(`${accounts} accounts with ${lines} lines; ${differences.length} differences`);
    return differences.length === 0 ? 0 : 1;
  } finally {
    await app.close();
  }
}

/** Money as decimals of USD in what is printed. */
function decimals(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? writeMoney(value) : value;
}
