import { buildApp } from "../app.ts";
import { verifyLedger } from "../billing/verify_ledger.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load_config.ts";
import { silentLog } from "../lib/log.ts";
import { writeMoney } from "../lib/money.ts";
import { askAdminApi } from "./admin_api.ts";
import { type AdminCall, adminCallFor } from "./admin_call.ts";
import { readAdminArguments } from "./admin_line.ts";
import { print } from "./print.ts";
import { redeliverRange } from "./redeliver_range.ts";
import { UsageError } from "./usage_error.ts";

/**
 * `accounts …`, `keys …`, `ledger …`, `tasks …`, `deliveries …` and the others that `admin_call.ts` lists: the admin API as
 * commands. A stopped gateway's store is opened directly; of a running one, which owns its store, the API is called.
 */
export async function adminCommand(command: string, args: readonly string[]): Promise<number> {
  const { config: path, gateway, verb, line } = readAdminArguments(command, args);
  const config = loadConfig({ path, env: (name) => Deno.env.get(name) });
  if (command === "ledger" && verb === "verify") {
    line.end();
    if (gateway !== undefined) throw new UsageError("switchyard ledger verify: it reads a store, not a --gateway");
    return await verify(config);
  }
  const call = adminCallFor(command, verb, line);
  const ask = (each: AdminCall) => askAdminApi(each, config, gateway);
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

async function verify(config: Config): Promise<number> {
  const app = await buildApp({ config, log: silentLog });
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
