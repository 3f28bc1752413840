import { parseArgs } from "node:util";
import { type RunningApp, startApp } from "../app.ts";
import { newApiKey } from "../billing/api_key.ts";
import type { Config } from "../config/config.ts";
import { devConfig } from "../config/dev_config.ts";
import { loadConfig } from "../config/load_config.ts";
import { startSandbox } from "../sandbox/mod.ts";
import { openProcessOutput, type ProcessOutput } from "./process_output.ts";
import { listenForStop } from "./stop_signals.ts";
import { UsageError } from "./usage_error.ts";

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
  const key = await devKey();
  const sandbox = await startSandbox({ port: 0 });
  const config = devConfig({ sandbox: sandbox.baseUrls, key, env: environment });
  const output = openProcessOutput(config);
  const code = await runUntilSignal(output, async () => {
    const app = await start(config, output, true);
    output.print(devGreeting(app.address, key));
    return app;
  });
  await sandbox.stop();
  return code;
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
  Deno.cron("sweep due jobs", "* * * * *", async () => void await app.store.sweep());
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

/** The demo account's key: made once and kept beside the dev store, so that it stays good from start to start. */
async function devKey(): Promise<string> {
  const path = "./data/dev-key";
  try {
    return (await Deno.readTextFile(path)).trim();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const key = newApiKey();
  await Deno.mkdir("./data", { recursive: true });
  await Deno.writeTextFile(path, `${key}\n`, { mode: 0o600 });
  return key;
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
`;
}
