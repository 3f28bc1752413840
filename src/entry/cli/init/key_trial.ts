import { parseEnv } from "node:util";
import { checkConfig } from "../../../config/load_config.ts";
import type { Environment } from "../../../config/tree/expansion.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import type { Terminal } from "../terminal.ts";
import { type Answers, CONFIG_FILE, configFile, envFile } from "./files.ts";
import type { VendorAnswers } from "./vendor_answers.ts";

/** Whether a vendor accepts a key, and what it said, for people. */
export interface Trial {
  readonly isAccepted: boolean;
  readonly message: string;
}

/** Calls a vendor with its key, by its cheapest request. */
export type TryKey = (vendor: VendorAnswers, project: string | null) => Promise<Trial>;

/** Tries keys by the provider that would be written. A vendor that is silent for 30 seconds has not accepted. */
export function keyTrial(env: Environment): TryKey {
  return async (vendor, project) => {
    const answers: Answers = { vendors: [vendor], project, admin: "owner", account: "try", balance: "0", port: "0" };
    const placeholder = "sk-only-for-this-trial";
    const variables = parseEnv(envFile(answers, { callerKey: placeholder, adminKey: placeholder }));
    const { problems, config } = checkConfig({
      path: CONFIG_FILE,
      env: (name) => variables[name] ?? env(name),
      readFile: () => configFile(answers),
    });
    if (config === null) return { isAccepted: false, message: problems.join("; ") };
    const { testConfiguredProvider } = await import("../../app/operators/provider_test.ts");
    const results = await testConfiguredProvider(config, systemClock, vendor.vendor.name, null);
    return {
      isAccepted: results.every(({ isOk }) => isOk),
      message: results.map(({ message }) => message).join("; "),
    };
  };
}

/**
 * Tries the key of a vendor, and asks for another one until the vendor accepts it or the user keeps what there is.
 *
 * @param askAgain Asks for another key; gives null to keep the present one.
 */
export async function triedAnswers(
  terminal: Terminal,
  first: VendorAnswers,
  attempt: (vendor: VendorAnswers) => Promise<Trial>,
  askAgain: (vendor: VendorAnswers) => Promise<VendorAnswers | null>,
): Promise<VendorAnswers> {
  let answers = first;
  // Ends with a key that the vendor accepts, or one that the user keeps. The end of the input throws.
  while (true) {
    terminal.tell(`  Trying the key at ${answers.vendor.name} …`);
    const { isAccepted, message } = await attempt(answers);
    terminal.tell(`  ${message}.`);
    const next = isAccepted ? null : await askAgain(answers);
    if (next === null) return answers;
    answers = next;
  }
}
