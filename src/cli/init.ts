import { parseArgs, parseEnv } from "node:util";
import { newApiKey } from "../billing/api_key.ts";
import { type Vendor, VENDORS } from "../config/environment.ts";
import type { Environment } from "../config/expansion.ts";
import { checkConfig } from "../config/load_config.ts";
import { readMoney } from "../lib/money.ts";
import { PRIVATE_FILE_MODE } from "../lib/private_path.ts";
import { asUnwritableError } from "../lib/unwritable.ts";
import { ENV_FILE, environmentOf } from "./environment.ts";
import { print } from "./print.ts";
import { serve } from "./serve.ts";
import { InputEndedError, openTerminal, type Terminal } from "./terminal.ts";
import { UsageError } from "./usage_error.ts";

/** The file of the configuration that is written. */
const CONFIG_FILE = "switchyard.yaml";
/** The variable of the key for callers. */
const CALLER_KEY = "SWITCHYARD_KEY";
const ADMIN_KEY = "SWITCHYARD_ADMIN_KEY";

const USAGE = "switchyard init [--vendors LIST] [--account ID] [--balance USD] [--port N] [--no-start]";
const DEFAULTS = { account: "default", balance: "25.00", port: "8787" };
const INTERRUPTED = 130;

/** What the files are written from. */
export interface Answers {
  readonly vendors: readonly Vendor[];
  /** Keys of vendors, by the names of their variables. */
  readonly keys: ReadonlyMap<string, string>;
  readonly account: string;
  /** USD. */
  readonly balance: string;
  readonly port: string;
}

/**
 * Runs `init`: asks for vendors and their keys, writes a configuration and its secrets, checks it and starts the
 * gateway. Without a terminal the options and the environment answer.
 *
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, a file exists already, or no vendor has a key.
 */
export async function init(args: readonly string[]): Promise<number> {
  const { noStart, ...options } = readOptions(args);
  for (const path of [CONFIG_FILE, ENV_FILE]) {
    if (await exists(path)) throw new UsageError(`switchyard init: ${path} exists already; remove or rename it first`);
  }
  const env = environmentOf();
  let answers: Answers;
  try {
    answers = await collectAnswers(options, openTerminal(), env);
  } catch (error) {
    if (error instanceof InputEndedError) return INTERRUPTED;
    throw error;
  }
  const callerKey = newApiKey();
  const secrets = envFile(answers, { callerKey, adminKey: newApiKey() });
  const text = configFile(answers);
  const variables = parseEnv(secrets);
  const { problems, config } = checkConfig({
    path: CONFIG_FILE,
    env: (name) => env(name) ?? variables[name],
    readFile: () => text,
  });
  if (config === null) throw new UsageError(problems.join("\n"));
  await writeNew(ENV_FILE, secrets);
  await writeNew(CONFIG_FILE, text);
  print(
    `Wrote ${CONFIG_FILE}, and its secrets in ${ENV_FILE}: ${config.models.length} models of ${
      answers.vendors.map(({ provider }) => provider).join(", ")
    }.
The account "${answers.account}" has ${answers.balance} USD. An API key for callers, also in ${ENV_FILE} as ${CALLER_KEY}:
  ${callerKey}
`,
  );
  if (!noStart) return await serve([]);
  print('Start the gateway with "switchyard serve". Check the vendors with "switchyard doctor".');
  return 0;
}

interface InitOptions extends Partial<Record<"vendors" | "account" | "balance" | "port", string>> {
  readonly noStart: boolean;
}

function readOptions(args: readonly string[]): InitOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        vendors: { type: "string" },
        account: { type: "string" },
        balance: { type: "string" },
        port: { type: "string" },
        "no-start": { type: "boolean" },
      },
    });
    const { "no-start": noStart = false, ...rest } = values;
    return { noStart, ...rest };
  } catch (error) {
    throw new UsageError(`${USAGE}: ${(error as Error).message}`);
  }
}

/**
 * Collects the answers: from options, then by questions, then from the environment and defaults.
 *
 * @param terminal Null for no questions.
 * @throws {UsageError} If an answer is invalid, or a vendor has no key.
 */
export async function collectAnswers(
  options: Omit<InitOptions, "noStart">,
  terminal: Terminal | null,
  env: Environment,
): Promise<Answers> {
  const ask = async (question: string, preset: string | undefined, otherwise: string) =>
    preset ?? (await terminal?.ask(`${question} [${otherwise}]: `) || otherwise);
  const found = VENDORS.filter((vendor) => keyNameOf(vendor, env) !== null).map(({ provider }) => provider).join(",");
  const known = VENDORS.map(({ provider }) => provider).join(", ");
  const names = await ask(`Vendors, with commas between them, of ${known}\n`, options.vendors, found || "openai");
  const vendors = vendorsIn(names);
  const keys = new Map<string, string>();
  for (const vendor of vendors) {
    const variable = keyNameOf(vendor, env) ?? vendor.keyNames[0]!;
    const key = env(variable) || await terminal?.askSecret(`Key of ${vendor.provider} (is not shown): `);
    if (!key) throw new UsageError(`switchyard init: the vendor ${vendor.provider} needs a key: set ${variable}`);
    if (!/^[\x21-\x7e]+$/.test(key) || key.includes("'")) {
      throw new UsageError(`switchyard init: ${variable}: expected a key of visible characters without quotes`);
    }
    keys.set(variable, key);
  }
  const account = await ask("Name of the account", options.account, DEFAULTS.account);
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(account)) {
    throw new UsageError("switchyard init: --account: expected 1 to 64 of A-Z a-z 0-9 . _ -");
  }
  const balance = await ask("Its balance in USD", options.balance, DEFAULTS.balance);
  if (!isAmount(balance)) {
    throw new UsageError("switchyard init: --balance: expected an amount in USD, such as 25.00");
  }
  const port = await ask("Port", options.port, DEFAULTS.port);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError("switchyard init: --port: expected a number up to 65535");
  }
  return { vendors, keys, account, balance, port };
}

function isAmount(text: string): boolean {
  try {
    return readMoney(text) >= 0n;
  } catch {
    return false;
  }
}

function vendorsIn(names: string): Vendor[] {
  return names.split(",").map((name) => name.trim()).filter((name) => name !== "").map((name) => {
    const vendor = VENDORS.find(({ provider }) => provider === name);
    if (vendor !== undefined) return vendor;
    const known = VENDORS.map(({ provider }) => provider).join(", ");
    throw new UsageError(`switchyard init: --vendors: expected some of ${known}, got "${name}"`);
  });
}

/** The first variable of a vendor's key that is set. */
function keyNameOf({ keyNames }: Vendor, env: Environment): string | null {
  return keyNames.find((name) => env(name)) ?? null;
}

interface Secrets {
  readonly callerKey: string;
  readonly adminKey: string;
}

/** The text of `.env`. */
function envFile({ keys }: Answers, { callerKey, adminKey }: Secrets): string {
  const lines = [...keys, [ADMIN_KEY, adminKey] as const, [CALLER_KEY, callerKey] as const];
  return `# Secrets of ${CONFIG_FILE}, which "switchyard" reads when it starts in this folder.\n` +
    lines.map(([name, value]) => `${name}='${value}'\n`).join("");
}

/** The text of the configuration, without secrets. */
function configFile({ vendors, keys, account, balance, port }: Answers): string {
  const providers = vendors.map(({ provider, kind, keyNames, baseUrl }) => {
    const variable = keyNames.find((name) => keys.has(name));
    const address = baseUrl === null ? "" : `\n    base_url: ${baseUrl}`;
    return `  ${provider}:\n    kind: ${kind}\n    api_key: \${${variable}}${address}\n`;
  });
  return `# Written by "switchyard init". "switchyard config check" checks changes.

server:
  port: ${port}
  admin_key: \${${ADMIN_KEY}} # of the admin API, the commands and the console

accounts:
  - id: ${JSON.stringify(account)}
    balance: "${balance}" # USD when the account is created; later "switchyard accounts credit"
    keys: ["\${${CALLER_KEY}}"]

providers:
${providers.join("")}`;
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, { createNew: true, mode: PRIVATE_FILE_MODE });
  } catch (error) {
    throw asUnwritableError(null, path, error);
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
