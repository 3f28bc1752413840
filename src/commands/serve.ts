import { parseArgs } from "node:util";
import { type RunningApp, startApp } from "../app.ts";
import { newApiKey } from "../billing/api_key.ts";
import type { Config } from "../config/config.ts";
import { devConfig } from "../config/dev_config.ts";
import { loadConfig } from "../config/load_config.ts";
import { createLineWriter } from "../lib/line_writer.ts";
import { jsonLog, type Log } from "../lib/log.ts";
import { startSandbox } from "../sandbox/mod.ts";
import { UsageError } from "./usage_error.ts";

const environment = (name: string) => Deno.env.get(name);

/** `serve [--config FILE]`: the gateway until a signal ends it. */
export async function serve(args: readonly string[]): Promise<number> {
  const config = loadConfig({ path: configPathIn(args), env: environment });
  const log = logOf(config);
  if (config.models.length === 0) {
    log.warn("catalog_empty", { reason: "no vendor's key is set and no configuration names a model" });
  }
  return await runUntilSignal(await start(config, log), log);
}

/** `dev`: the gateway in front of simulated vendors, with a key to use at once. */
export async function dev(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError("switchyard dev: takes no arguments");
  const key = await devKey();
  const sandbox = await startSandbox({ port: 0 });
  const config = devConfig({ sandbox: sandbox.baseUrls, key, env: environment });
  const log = logOf(config);
  const app = await start(config, log);
  console.log(devGreeting(app.address, key));
  const code = await runUntilSignal(app, log);
  await sandbox.stop();
  return code;
}

/** The path that `--config` gives; undefined without it. Throws {@linkcode UsageError} for anything else. */
export function configPathIn(args: readonly string[]): string | undefined {
  try {
    return parseArgs({ args: [...args], options: { config: { type: "string" } } }).values.config;
  } catch (error) {
    throw new UsageError(`switchyard: ${(error as Error).message}`);
  }
}

/** The log on the standard error output, written to its end also when the process ends by an error or by itself. */
export function logOf(config: Config): Log {
  const writer = createLineWriter((bytes) => Deno.stderr.writeSync(bytes));
  for (const end of ["unload", "error", "unhandledrejection"]) addEventListener(end, () => writer.flush());
  return jsonLog(config.logs.level, (line, level) => writer.write(line, level === "warn" || level === "error"));
}

async function start(config: Config, log: Log): Promise<RunningApp> {
  const app = await startApp({ config, log });
  // The sweep behind the alarms: it finds due work whose alarm was lost.
  Deno.cron("sweep due jobs", "* * * * *", async () => void await app.store.sweep());
  for (const { id, generatedWebhookSecret } of app.ensured.created) {
    if (generatedWebhookSecret === null) continue;
    console.log(`Account "${id}" was created; its webhook secret, shown once: ${generatedWebhookSecret}`);
  }
  console.log(`Switchyard is ready at ${app.address}`);
  return app;
}

/** Resolves with the exit code when a first signal was carried out; a second one ends the process at once. */
async function runUntilSignal(app: RunningApp, log: Log): Promise<number> {
  const { promise: signalled, resolve } = Promise.withResolvers<string>();
  let signals = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      if (++signals > 1) Deno.exit(1);
      resolve(signal);
    });
  }
  log.info("stopping", { signal: await signalled });
  await app.stop();
  log.info("stopped");
  return 0;
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
