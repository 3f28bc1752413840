import { parseArgs } from "node:util";
import { type RunningApp, startApp } from "../app/app.ts";
import type { Config } from "../config/config.ts";
import { devConfig } from "../config/dev_config.ts";
import { loadConfig } from "../config/load_config.ts";
import { restrictPermissions } from "../lib/private_path.ts";
import { startSandbox } from "../sandbox/mod.ts";
import { adminKeyPath, pathOf, webhookSecretPath } from "./find_gateway.ts";
import { keptSecret, writeSecret } from "./secret_file.ts";
import { openProcessOutput, type ProcessOutput } from "./process_output.ts";
import { listenForStop } from "./stop_signals.ts";
import { UsageError } from "./usage_error.ts";

/** The demo account's key, which stays good from start to start. */
const DEV_KEY_PATH = "./data/dev-key";

const environment = (name: string) => Deno.env.get(name);

/** `serve [--config FILE] [--show-secrets]`: the gateway until a signal ends it. */
export async function serve(args: readonly string[]): Promise<number> {
  const { config: path, showSecrets } = serveOptionsIn(args);
  const config = loadConfig({ path, env: environment });
  const output = openProcessOutput(config);
  if (config.models.length === 0) {
    output.log.warn("catalog_empty", { reason: "no vendor's key is set and no configuration names a model" });
  }
  return await runUntilSignal(output, () => start(config, output, showSecrets));
}

/** `dev`: the gateway in front of simulated vendors, with a key to use at once. */
export async function dev(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError("switchyard dev: takes no arguments");
  const key = await keptSecret(DEV_KEY_PATH);
  const sandbox = await startSandbox({ port: 0 });
  const config = await withAdminKey(devConfig({ sandbox: sandbox.baseUrls, key, env: environment }));
  const output = openProcessOutput(config);
  for (const path of [DEV_KEY_PATH, adminKeyPath(config.store)]) {
    if (path !== null) await restrictPermissions(path, output.log);
  }
  const code = await runUntilSignal(output, async () => {
    const app = await start(config, output, true);
    await keepWebhookSecret(config, app);
    output.print(devGreeting(app.address, key));
    return app;
  });
  await sandbox.stop();
  return code;
}

/**
 * The admin key of `dev` lies beside its store, where commands of the same user find it. One of the environment goes
 * first.
 */
async function withAdminKey(config: Config): Promise<Config> {
  const path = adminKeyPath(config.store);
  if (config.server.adminKey !== null || path === null) return config;
  return { ...config, server: { ...config.server, adminKey: await keptSecret(path) } };
}

/** The secret of the account that was just made lies beside the store as well, where `webhooks listen` finds it. */
async function keepWebhookSecret({ store }: Config, { ensured }: RunningApp): Promise<void> {
  const path = pathOf(store);
  for (const { generatedWebhookSecret: secret } of ensured.created) {
    if (path !== null && secret !== null) await writeSecret(webhookSecretPath(path), secret);
  }
}

function serveOptionsIn(args: readonly string[]): { config: string | undefined; showSecrets: boolean } {
  try {
    const options = { config: { type: "string" }, "show-secrets": { type: "boolean" } } as const;
    const { values } = parseArgs({ args: [...args], options });
    return { config: values.config, showSecrets: values["show-secrets"] ?? false };
  } catch (error) {
    throw new UsageError(`switchyard: ${(error as Error).message}`);
  }
}

async function start(config: Config, { log, print }: ProcessOutput, showSecrets: boolean): Promise<RunningApp> {
  const app = await startApp({ config, log });
  // The sweep behind the alarms: it finds due work whose alarm was lost.
  Deno.cron("sweep due jobs", "* * * * *", async () => void await app.store.wakeOverdueJobs());
  for (const { id, generatedWebhookSecret: secret } of app.ensured.created) {
    if (secret === null) continue;
    print(
      showSecrets
        ? `Account "${id}" was created; its webhook secret, shown once: ${secret}`
        : `Account "${id}" was created. "switchyard webhook-secrets rotate ${id}" shows a webhook secret, ` +
          `"switchyard keys create ${id}" an API key.`,
    );
  }
  print(`Switchyard is ready at ${app.address}`);
  return app;
}

/**
 * Starts, and resolves with the exit code when a first signal was carried out; a second one ends the process at once. A
 * signal that arrives during the start is carried out behind it.
 */
async function runUntilSignal({ log, flush }: ProcessOutput, start: () => Promise<RunningApp>): Promise<number> {
  const stopSignal = listenForStop({ log, onSecond: () => void flush().then(() => Deno.exit(1)) });
  try {
    const app = await start();
    log.info("stopping", { signal: await stopSignal });
    await app.stop();
    log.info("stopped");
    return 0;
  } finally {
    await flush();
  }
}

function devGreeting(address: string, key: string): string {
  const start = (path: string) =>
    `  curl ${address}${path} -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`;
  return `
Vendors are simulated: nothing leaves this machine, nothing costs money. The demo account has 25 USD.
An API key that is ready to use: ${key}

${start("/v1/chat/completions")}
    -d '{"model":"sandbox/chat-1","messages":[{"role":"user","content":"Say hello"}]}'

${start("/v1/images/generations")}
    -d '{"model":"sandbox/image-1","prompt":"A lighthouse at dusk","quality":"low"}'

${start("/v1/videos")}
    -d '{"model":"sandbox/video-1","prompt":"A lighthouse at dusk"}'

While it runs, commands in this folder reach it, such as "switchyard accounts list", or, for the events of videos,
"switchyard webhooks listen --forward http://localhost:3000/hook".
`;
}
