import { resolve } from "node:path";
import type { Environment } from "../../../config/tree/expansion.ts";
import { readServiceAccountKey } from "../../../vendors/upstreams/settings/service_account_key.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage_error.ts";
import { readKeySource } from "./key_source.ts";
import { type ModelPrice, readPrice } from "./price.ts";
import { AnswerError, answerTo } from "./questions.ts";
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

/** Asks what has to be known of vendors. */
export interface VendorQuestions {
  /**
   * Collects the answers for one vendor.
   *
   * @throws {UsageError} If an answer of an option or of the environment is invalid, or one is missing.
   */
  ask(vendor: InitVendor): Promise<VendorAnswers>;
  /** Asks for another key; null if the user keeps the present one, or if the environment has it. */
  askAgain(answers: VendorAnswers): Promise<VendorAnswers | null>;
}

/** The questions about vendors, at a terminal or from what is given. */
export function vendorQuestions(terminal: Terminal | null, env: Environment, given: GivenAnswers): VendorQuestions {
  return {
    async ask(vendor) {
      const key = vendor.hasProject
        ? await keyFileOf(vendor, given, terminal, env)
        : await keyOf(vendor, given, terminal, env);
      const address = await addressOf(vendor, given, terminal, env);
      const models = vendor.models === "named" ? await modelsOf(vendor, given, terminal) : [];
      return { vendor, key, address, models, price: await priceOf(vendor, given, terminal) };
    },
    async askAgain(answers) {
      const { vendor, key } = answers;
      // The environment has precedence over `.env`, so that another key would not be used.
      if (terminal === null || key === null || vendor.hasProject || env(key.variable)) return null;
      const value = await answerTo(terminal, {
        text: `Another key of ${vendor.name}, or Enter to keep this one`,
        option: "key",
        given: undefined,
        isSecret: true,
        read: (text) => text === "" ? null : checkedKey(key.variable, text),
      });
      return value === null ? null : { ...answers, key: value };
    },
  };
}

async function keyOf(
  { name, keyNames, keyName }: InitVendor,
  { keys }: GivenAnswers,
  terminal: Terminal | null,
  env: Environment,
): Promise<VendorAnswers["key"]> {
  const source = keys.get(name);
  if (source !== undefined) {
    return notOverridden(usable(keyName, await readKeySource(name, source, env)), env);
  }
  if (keyNames.length === 0) return null;
  const variable = keyNames.find((each) => env(each)) ?? keyName;
  const value = env(variable);
  if (value) return usable(variable, value);
  if (terminal === null) {
    throw new UsageError(`switchyard init: the vendor ${name} needs a key: set ${variable}, or --key ${name}=@FILE`);
  }
  return await answerTo(terminal, {
    text: `Key of ${name} (is not shown)`,
    option: "key",
    given: undefined,
    isSecret: true,
    read: (text) => checkedKey(variable, text),
  });
}

/** The path of a key file, which stays where it is. */
async function keyFileOf(
  { name, keyName }: InitVendor,
  { keys }: GivenAnswers,
  terminal: Terminal | null,
  env: Environment,
): Promise<VendorAnswers["key"]> {
  const source = keys.get(name);
  const given = source?.startsWith("@") && source !== "@-" ? source.slice(1) : env(keyName);
  if (given === undefined && terminal !== null) {
    return await answerTo(terminal, {
      text: "Path of the key file of a service account",
      option: "key",
      given: undefined,
      read: async (path) => {
        const text = path ? await Deno.readTextFile(path).catch(() => "") : "";
        if (readServiceAccountKey(text) !== null) return checkedKey(keyName, resolve(path));
        throw new AnswerError("expected the path of a key file of a service account, in JSON");
      },
    });
  }
  const text = given ? await Deno.readTextFile(given).catch(() => "") : "";
  if (given && readServiceAccountKey(text) !== null) return usable(keyName, resolve(given));
  throw new UsageError(
    `switchyard init: the vendor ${name} needs the key file of a service account: set ${keyName} to its path, or ` +
      `--key ${name}=@FILE`,
  );
}

/** The environment has precedence over `.env`, so that another key there would be used. */
function notOverridden(key: Key, env: Environment): VendorAnswers["key"] {
  const set = env(key.variable);
  if (!set || set === key.value) return key;
  throw new UsageError(`switchyard init: --key: the environment variable ${key.variable} has another key; unset it`);
}

type Key = NonNullable<VendorAnswers["key"]>;

/** A key that was not typed at a question, so that it is not asked for again. */
function usable(variable: string, value: string): Key {
  try {
    return checkedKey(variable, value);
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    throw new UsageError(`switchyard init: ${variable}: ${error.message}`);
  }
}

function checkedKey(variable: string, value: string): Key {
  if (/^[\x21-\x7e]+$/.test(value) && !value.includes("'")) return { variable, value };
  throw new AnswerError("expected a key of visible characters without quotes");
}

async function addressOf(
  { name, addressName }: InitVendor,
  { addresses }: GivenAnswers,
  terminal: Terminal | null,
  env: Environment,
): Promise<string | null> {
  const given = addresses.get(name);
  if (given !== undefined || addressName === null) return given ?? null;
  const address = env(addressName);
  if (address) return address;
  if (terminal === null) {
    throw new UsageError(
      `switchyard init: the vendor ${name} needs the address of a resource: set ${addressName}, or --address ` +
        `${name}=URL`,
    );
  }
  return await answerTo(terminal, {
    text: `Address of the resource at ${name}`,
    option: "address",
    given: undefined,
    read: (text) => {
      if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
      throw new AnswerError("expected an address that begins with https://");
    },
  });
}

async function modelsOf(
  { name }: InitVendor,
  { models }: GivenAnswers,
  terminal: Terminal | null,
): Promise<readonly string[]> {
  const what = name === "azure" ? "deployments" : "models";
  return await answerTo(terminal, {
    text: `Names of the ${what} at ${name}, with commas between them`,
    option: "models",
    given: models.get(name),
    read: (list) => {
      const names = list.split(",").map((each) => each.trim()).filter((each) => each !== "");
      if (names.length > 0) return [...new Set(names)];
      throw new AnswerError(`expected at least one name${terminal === null ? `: ${name}=LIST` : ""}`);
    },
  });
}

/** Servers of the operator cost nothing unless a price is given. */
async function priceOf(
  { name, models, keyNames }: InitVendor,
  { prices }: GivenAnswers,
  terminal: Terminal | null,
): Promise<ModelPrice> {
  const given = prices.get(name);
  if (given === undefined && (models === "built-in" || keyNames.length === 0)) return null;
  return await answerTo(terminal, {
    text: `Price of models of ${name} in USD for a million tokens, INPUT/OUTPUT, or free`,
    option: `price ${name}=…`,
    given,
    read: readPrice,
  });
}
