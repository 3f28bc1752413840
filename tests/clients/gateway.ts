import { startApp } from "../../src/entry/app/app.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { devConfig } from "../../src/config/dev_config.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { FAMILIES, type FamilyName } from "./program.ts";

/** The gateway that the programs call. */
export interface ClientsGateway {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly address: string;
  readonly key: string;
  stop(): Promise<void>;
}

/** Model names for packages that accept only these. */
const ALIASES: Readonly<Record<string, string>> = {
  "claude-haiku-4-5": FAMILIES.openai,
  "claude-sonnet-4-5": FAMILIES.anthropic,
  "claude-opus-4-1": FAMILIES.google,
};

/** Agents send prompts of tens of thousands of tokens. */
const BALANCE = readMoney("10000.00");

/**
 * A name that a program recognises as a known model, resolved to a family's model.
 *
 * @param known The prefix of the name.
 */
export function aliasOf(known: string, family: FamilyName): string {
  return `${known}-${family}`;
}

/** Starts the same as `switchyard dev`: the same models in front of the same simulated vendors, in memory. */
export async function startClientsGateway(): Promise<ClientsGateway> {
  const sandbox = await startSandbox({ port: 0 });
  const key = newApiKey();
  const files = await Deno.makeTempDir();
  const overrides: Record<string, string> = { PORT: "0", SWITCHYARD_STORE: "kv::memory:", SWITCHYARD_FILES: files };
  const { config } = devConfig({ sandbox: sandbox.baseUrls, key, env: (name) => overrides[name] });
  const accounts = config.accounts.map((account) => ({ ...account, balance: BALANCE }));
  const byFamily = Object.entries(FAMILIES).map(([family, model]) => ({
    name: aliasOf("*", family as FamilyName),
    model,
    fallbacks: null,
    isListed: false,
  }));
  const byName = Object.entries(ALIASES).map(([name, model]) => ({ name, model, fallbacks: null, isListed: false }));
  const aliases = [...byFamily, ...byName];
  const app = await startApp({ config: { ...config, accounts, aliases }, log: jsonLog("error", console.error) });
  return {
    address: app.address,
    key,
    async stop() {
      await app.stop();
      await sandbox.stop();
      await Deno.remove(files, { recursive: true });
    },
  };
}
