import { ADMIN_KEY_NAME_EXPECTATION, isAdminKeyName } from "../../audit/admin_keys.ts";
import type { Environment } from "../../config/expansion.ts";
import { readMoney } from "../../lib/money.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage_error.ts";
import { byVendor, type InitOptions } from "./options.ts";
import { INIT_VENDORS, type InitVendor, vendorsIn } from "./vendors.ts";
import { type VendorAnswers, vendorQuestions } from "./vendor_answers.ts";

/** What the files are written from. */
export interface Answers {
  readonly vendors: readonly VendorAnswers[];
  /** The project at Google Cloud, if a vendor needs one. */
  readonly project: string | null;
  /** The name of the admin key. */
  readonly admin: string;
  readonly account: string;
  /** USD. */
  readonly balance: string;
  readonly port: string;
}

const DEFAULTS = { admin: "owner", account: "default", balance: "25.00", port: "8787" };
const NAME_EXPECTATION = "expected 1 to 64 of A-Z a-z 0-9 . _ -";

/**
 * Collects the answers: from options, then by questions, then from the environment and defaults.
 *
 * @param terminal Null for no questions.
 * @throws {UsageError} If an answer is invalid or missing.
 */
export async function collectAnswers(
  options: InitOptions,
  terminal: Terminal | null,
  env: Environment,
): Promise<Answers> {
  const ask = async (question: string, preset: string | undefined, otherwise: string) =>
    preset ?? (await terminal?.ask(`${question} [${otherwise}]: `) || otherwise);
  const chosen = await chosenVendors(options, ask, env);
  const names = chosen.map(({ name }) => name);
  const questions = vendorQuestions(terminal, env, {
    keys: byVendor("key", options.key, names),
    addresses: byVendor("address", options.address, names),
    models: byVendor("models", options.models, names),
    prices: byVendor("price", options.price, names),
  });
  const vendors: VendorAnswers[] = [];
  for (const vendor of chosen) vendors.push(await questions(vendor));
  const project = chosen.some(({ hasProject }) => hasProject)
    ? required("project", options.project ?? await terminal?.ask("Id of the project at Google Cloud: "))
    : null;
  const user = env("USER") ?? "";
  const admin = await ask(
    "Your name, for the log of changes",
    options.admin,
    isAdminKeyName(user) ? user : DEFAULTS.admin,
  );
  if (!isAdminKeyName(admin)) throw invalid("admin", `expected ${ADMIN_KEY_NAME_EXPECTATION}`);
  const account = await ask("Name of the account", options.account, DEFAULTS.account);
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(account)) throw invalid("account", NAME_EXPECTATION);
  const balance = await ask("Its balance in USD", options.balance, DEFAULTS.balance);
  if (!isAmount(balance)) throw invalid("balance", "expected an amount in USD, such as 25.00");
  const port = await ask("Port", options.port, DEFAULTS.port);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw invalid("port", "expected a number up to 65535");
  return { vendors, project, admin, account, balance, port };
}

/** Vendors whose key is in the environment are proposed, as far as nothing else has to be known. */
async function chosenVendors(
  { vendors }: InitOptions,
  ask: (question: string, preset: string | undefined, otherwise: string) => Promise<string>,
  env: Environment,
): Promise<readonly InitVendor[]> {
  const found = INIT_VENDORS.filter(({ keyNames, models }) =>
    models === "built-in" && keyNames.some((name) => env(name))
  )
    .map(({ name }) => name);
  const known = INIT_VENDORS.map(({ name }) => name).join(", ");
  return vendorsIn(await ask(`Vendors, with commas between them, of ${known}\n`, vendors, found.join(",") || "openai"));
}

function isAmount(text: string): boolean {
  try {
    return readMoney(text) >= 0n;
  } catch {
    return false;
  }
}

function required(option: "project", answer: string | undefined): string {
  if (answer) return answer;
  throw invalid(option, "expected the id of a project at Google Cloud");
}

function invalid(option: string, expected: string): UsageError {
  return new UsageError(`switchyard init: --${option}: ${expected}`);
}
