import { resolve } from "node:path";
import type { Environment } from "../../config/expansion.ts";
import { readServiceAccountKey } from "../../upstreams/cloud_config.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage_error.ts";
import { readKeySource } from "./key_source.ts";
import { type ModelPrice, readPrice } from "./price.ts";
import type { InitVendor } from "./vendors.ts";

/** What is known of a vendor. */
export interface VendorAnswers {
  readonly vendor: InitVendor;
  /** The variable of the key, and the key; null without one. */
  readonly key: { readonly variable: string; readonly value: string } | null;
  /** The address to write; null for that of the kind. */
  readonly address: string | null;
  /** The vendor's names of the models; empty if they are built in or listed. */
  readonly models: readonly string[];
  /** Null for models that are free or built in. */
  readonly price: ModelPrice;
}

/** The values of options by vendor. */
export interface GivenAnswers {
  /** Where keys are. */
  readonly keys: ReadonlyMap<string, string>;
  readonly addresses: ReadonlyMap<string, string>;
  /** Lists with commas. */
  readonly models: ReadonlyMap<string, string>;
  readonly prices: ReadonlyMap<string, string>;
}

/**
 * Returns the function that collects the answers for one vendor.
 *
 * @throws {UsageError} If an answer is invalid or missing.
 */
export function vendorQuestions(
  terminal: Terminal | null,
  env: Environment,
  given: GivenAnswers,
): (vendor: InitVendor) => Promise<VendorAnswers> {
  return async (vendor) => {
    const key = vendor.hasProject
      ? await keyFileOf(vendor, given, terminal, env)
      : await keyOf(vendor, given, terminal, env);
    const address = await addressOf(vendor, given, terminal, env);
    const models = vendor.models === "named" ? await modelsOf(vendor, given, terminal) : [];
    return { vendor, key, address, models, price: await priceOf(vendor, given, terminal) };
  };
}

async function keyOf(
  { name, keyNames, keyName }: InitVendor,
  { keys }: GivenAnswers,
  terminal: Terminal | null,
  env: Environment,
): Promise<VendorAnswers["key"]> {
  const source = keys.get(name);
  if (source !== undefined) return notOverridden(checkedKey(keyName, await readKeySource(name, source, env)), env);
  if (keyNames.length === 0) return null;
  const variable = keyNames.find((each) => env(each)) ?? keyName;
  const value = env(variable) || await terminal?.askSecret(`Key of ${name} (is not shown): `);
  if (value) return checkedKey(variable, value);
  throw new UsageError(`switchyard init: the vendor ${name} needs a key: set ${variable}, or --key ${name}=@FILE`);
}

/** The path of a key file, which stays where it is. */
async function keyFileOf(
  { name, keyName }: InitVendor,
  { keys }: GivenAnswers,
  terminal: Terminal | null,
  env: Environment,
): Promise<VendorAnswers["key"]> {
  const source = keys.get(name);
  const given = source?.startsWith("@") && source !== "@-" ? source.slice(1) : undefined;
  const path = given ?? env(keyName) ?? await terminal?.ask("Path of the key file of a service account: ");
  const text = path ? await Deno.readTextFile(path).catch(() => "") : "";
  if (path && readServiceAccountKey(text) !== null) return checkedKey(keyName, resolve(path));
  throw new UsageError(
    `switchyard init: the vendor ${name} needs the key file of a service account: set ${keyName} to its path, or ` +
      `--key ${name}=@FILE`,
  );
}

/** The environment has precedence over `.env`, so that another key there would be used. */
function notOverridden(key: NonNullable<VendorAnswers["key"]>, env: Environment): VendorAnswers["key"] {
  const set = env(key.variable);
  if (!set || set === key.value) return key;
  throw new UsageError(`switchyard init: --key: the environment variable ${key.variable} has another key; unset it`);
}

function checkedKey(variable: string, value: string): { readonly variable: string; readonly value: string } {
  if (/^[\x21-\x7e]+$/.test(value) && !value.includes("'")) return { variable, value };
  throw new UsageError(`switchyard init: ${variable}: expected a key of visible characters without quotes`);
}

async function addressOf(
  { name, addressName }: InitVendor,
  { addresses }: GivenAnswers,
  terminal: Terminal | null,
  env: Environment,
): Promise<string | null> {
  const given = addresses.get(name);
  if (given !== undefined || addressName === null) return given ?? null;
  const address = env(addressName) || await terminal?.ask(`Address of the resource at ${name}: `);
  if (address) return address;
  throw new UsageError(
    `switchyard init: the vendor ${name} needs the address of a resource: set ${addressName}, or --address ${name}=URL`,
  );
}

async function modelsOf(
  { name }: InitVendor,
  { models }: GivenAnswers,
  terminal: Terminal | null,
): Promise<readonly string[]> {
  const what = name === "azure" ? "deployments" : "models";
  const list = models.get(name) ?? await terminal?.ask(`Names of the ${what} at ${name}, with commas between them: `);
  const names = (list ?? "").split(",").map((each) => each.trim()).filter((each) => each !== "");
  if (names.length > 0) return [...new Set(names)];
  throw new UsageError(`switchyard init: --models: expected ${name}=LIST, with the names of its ${what}`);
}

/** Servers of the operator cost nothing unless a price is given. */
async function priceOf(
  { name, models, keyNames }: InitVendor,
  { prices }: GivenAnswers,
  terminal: Terminal | null,
): Promise<ModelPrice> {
  const given = prices.get(name);
  if (given !== undefined) return readPrice(name, given);
  if (models === "built-in" || keyNames.length === 0) return null;
  const question = `Price of models of ${name} in USD for a million tokens, INPUT/OUTPUT, or free: `;
  return readPrice(name, await terminal?.ask(question) ?? "");
}
