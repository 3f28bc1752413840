import { ADMIN_KEY_NAME_EXPECTATION, isAdminKeyName } from "../../../observers/audit/admin_keys.ts";
import type { Environment } from "../../../config/tree/expansion.ts";
import { readMoney } from "../../../platform/lib/basics/money.ts";
import type { Terminal } from "../terminal.ts";
import type { Answers } from "./files.ts";
import { triedAnswers, type TryKey } from "./key_trial.ts";
import { byVendor, type InitOptions } from "./options.ts";
import { AnswerError, answerTo } from "./questions.ts";
import { readVendors, vendorList } from "./vendor_choice.ts";
import { INIT_VENDORS, type InitVendor } from "./vendors.ts";
import { type VendorAnswers, vendorQuestions } from "./vendor_answers.ts";

const DEFAULTS = { admin: "owner", account: "default", balance: "25.00", port: "8787" };

/**
 * Collects the answers: from options, then by questions, then from the environment and defaults.
 *
 * @param terminal Null for no questions.
 * @param tryKey Tries the key of each vendor. It is used at a terminal only. Null for no trials.
 * @throws {UsageError} If an answer of an option is invalid, or one is missing.
 */
export async function collectAnswers(
  options: InitOptions,
  terminal: Terminal | null,
  env: Environment,
  tryKey: TryKey | null = null,
): Promise<Answers> {
  const chosen = await chosenVendors(options, terminal, env);
  const names = chosen.map(({ name }) => name);
  const project = chosen.some(({ hasProject }) => hasProject)
    ? await answerTo(terminal, {
      text: "Google Cloud project id",
      option: "project",
      given: options.project,
      read: readProject,
    })
    : null;
  const questions = vendorQuestions(terminal, env, {
    keys: byVendor("key", options.key, names),
    addresses: byVendor("address", options.address, names),
    models: byVendor("models", options.models, names),
    prices: byVendor("price", options.price, names),
  });
  const attempt = tryKey === null ? null : (each: VendorAnswers) => tryKey(each, project);
  const vendors: VendorAnswers[] = [];
  for (const vendor of chosen) {
    const answers = await questions.ask(vendor);
    const isTried = terminal !== null && attempt !== null && answers.key !== null;
    vendors.push(isTried ? await triedAnswers(terminal, answers, attempt, questions.askAgain) : answers);
  }
  const user = env("USER") ?? "";
  const { admin, account, balance, port } = options;
  return {
    vendors,
    project,
    admin: await answerTo(terminal, {
      text: "Your name, for the audit log",
      option: "admin",
      given: admin,
      proposal: isAdminKeyName(user) ? user : DEFAULTS.admin,
      read: expecting(isAdminKeyName, ADMIN_KEY_NAME_EXPECTATION),
    }),
    account: await answerTo(terminal, {
      text: "Account name",
      option: "account",
      given: account,
      proposal: DEFAULTS.account,
      read: expecting((text) => /^[A-Za-z0-9._-]{1,64}$/.test(text), "1 to 64 of A-Z a-z 0-9 . _ -"),
    }),
    balance: await answerTo(terminal, {
      text: "Opening balance of the account in USD",
      option: "balance",
      given: balance,
      proposal: DEFAULTS.balance,
      read: expecting(isAmount, "an amount in USD, such as 25.00"),
    }),
    port: await answerTo(terminal, {
      text: "Port",
      option: "port",
      given: port,
      proposal: DEFAULTS.port,
      read: expecting((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, "a number up to 65535"),
    }),
  };
}

/** Vendors whose key is in the environment are proposed, as far as nothing else has to be known. */
async function chosenVendors(
  { vendors }: InitOptions,
  terminal: Terminal | null,
  env: Environment,
): Promise<readonly InitVendor[]> {
  const found = INIT_VENDORS.filter(({ keyNames, models }) =>
    models === "built-in" && keyNames.some((name) => env(name))
  )
    .map(({ name }) => name);
  if (vendors === undefined) terminal?.tell(`Vendors:\n${vendorList()}`);
  return await answerTo(terminal, {
    text: "Which vendors? Type numbers, names or parts of names, separated by commas",
    option: "vendors",
    given: vendors,
    proposal: found.join(",") || "openai",
    read: readVendors,
  });
}

/** Reads an answer that stays as it is typed. */
function expecting(isValid: (text: string) => boolean, expected: string): (text: string) => string {
  return (text) => {
    if (isValid(text)) return text;
    throw new AnswerError(`expected ${expected}`);
  };
}

const readProject = expecting((text) => text !== "", "a Google Cloud project id");

function isAmount(text: string): boolean {
  try {
    return readMoney(text) >= 0n;
  } catch {
    return false;
  }
}
