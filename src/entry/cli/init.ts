import { counted } from "../../platform/lib/text/counted.ts";
import { parseEnv } from "node:util";
import { newApiKey } from "../../money/billing/keys/api_key.ts";
import { checkConfig } from "../../config/load_config.ts";
import { PRIVATE_FILE_MODE } from "../../platform/lib/process/private_path.ts";
import { asUnwritableError } from "../../platform/lib/process/unwritable.ts";
import { ENV_FILE, environmentOf } from "./environment.ts";
import { collectAnswers } from "./init/answers.ts";
import { type Answers, CALLER_KEY, CONFIG_FILE, configFile, envFile } from "./init/files.ts";
import { keyTrial } from "./init/key_trial.ts";
import { cheapestTextModel, nextSteps } from "./init/next_steps.ts";
import { readInitOptions } from "./init/options.ts";
import { print } from "./print.ts";
import { serve } from "./serve.ts";
import { InputEndedError, openTerminal } from "./terminal.ts";
import { UsageError } from "./usage_error.ts";

const INTERRUPTED = 130;

/**
 * Runs `init`: asks for vendors and their keys, writes a configuration and its secrets, checks it and starts the
 * gateway. Without a terminal the options and the environment answer.
 *
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, a file exists already, or no vendor has a key.
 */
export async function init(args: readonly string[]): Promise<number> {
  const { noStart, noTry, ...options } = readInitOptions(args);
  for (const path of [CONFIG_FILE, ENV_FILE]) {
    if (await exists(path)) throw new UsageError(`switchyard init: ${path} exists already; remove or rename it first`);
  }
  const env = environmentOf();
  let answers: Answers;
  try {
    answers = await collectAnswers(options, openTerminal(), env, noTry ? null : keyTrial(env));
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
    `Wrote ${CONFIG_FILE}, and its secrets in ${ENV_FILE}: ${modelsOf(answers, config.models.length)}.
The admin key is that of "${answers.admin}".
The account "${answers.account}" has ${answers.balance} USD. Its API key is in ${ENV_FILE} as ${CALLER_KEY}.
`,
  );
  const model = cheapestTextModel(config.models);
  if (!noStart) {
    return await serve([], async (app) => {
      const link = await app.createConsoleLink();
      return nextSteps({ address: app.address, link, model, key: callerKey });
    });
  }
  print('Start the gateway with "switchyard serve". Check the vendors with "switchyard doctor". Then:');
  print(nextSteps({ address: `http://127.0.0.1:${answers.port}`, link: null, model, key: callerKey }));
  return 0;
}

/** Listed models are known when the gateway has started. */
function modelsOf({ vendors }: Answers, count: number): string {
  const listed = vendors.filter(({ vendor }) => vendor.models === "listed").map(({ vendor }) => vendor.name);
  const known = vendors.map(({ vendor }) => vendor.name).filter((name) => !listed.includes(name));
  return [
    ...known.length > 0 ? [`${counted(count, "model")} of ${known.join(", ")}`] : [],
    ...listed.length > 0 ? [`the models that ${listed.join(", ")} list`] : [],
  ].join(", and ");
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
