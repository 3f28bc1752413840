import { type RunningApp, startApp } from "../app/app.ts";
import type { ServiceOptions } from "../app/services.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../lib/log.ts";
import { startMemoryReturn } from "../workers/memory_return.ts";
import type { ProcessOutput } from "./process_output.ts";
import { listenForStop } from "./stop_signals.ts";

/** How a command starts the gateway. */
export interface GatewayCommand {
  readonly config: Config;
  /** How the configuration is changed while the gateway runs. Default: it is not changed. */
  readonly live?: ServiceOptions["live"];
  /** Whether the webhook secrets of new accounts are printed. */
  readonly showSecrets: boolean;
}

/**
 * Starts the gateway of a command, and prints its address and the accounts that it created.
 * @throws What {@linkcode startApp} throws.
 */
export async function startGateway(
  { config, live, showSecrets }: GatewayCommand,
  { log, print, droppedLogLines }: ProcessOutput,
): Promise<RunningApp> {
  const app = await startApp({ config, log, droppedLogLines, ...live && { live } });
  // Jobs start by an alarm. This finds due jobs whose alarm was lost.
  Deno.cron("sweep due jobs", "* * * * *", async () => void await app.store.wakeOverdueJobs());
  for (const { id, generatedWebhookSecret: secret } of app.createdAccounts.created) {
    if (secret === null) continue;
    print(
      showSecrets
        ? `Account "${id}" was created; its webhook secret, shown once: ${secret}`
        : `Account "${id}" was created. "switchyard webhook-secrets rotate ${id}" shows a webhook secret, ` +
          `"switchyard keys create ${id}" an API key.`,
    );
  }
  const admin = app.adminAddress === app.address ? "" : `, the admin API at ${app.adminAddress}`;
  print(`Switchyard is ready at ${app.address}${admin}`);
  return app;
}

/**
 * Starts the gateway and stops it at the first signal. A second signal ends the process immediately. A signal during
 * the start takes effect after it.
 *
 * @returns The exit code.
 */
export async function runUntilSignal({ log, flush }: ProcessOutput, start: () => Promise<RunningApp>): Promise<number> {
  let onHangup = () => log.warn("reload_unsupported", { signal: "SIGHUP", reason: "the gateway is not ready" });
  const stopSignal = listenForStop({
    onSecond: () => void flush().then(() => Deno.exit(1)),
    onHangup: () => onHangup(),
  });
  try {
    const app = await start();
    onHangup = () => reload(app, log);
    const stopMemoryReturn = startMemoryReturn();
    log.info("stopping", { signal: await stopSignal });
    stopMemoryReturn();
    await app.stop();
    log.info("stopped");
    return 0;
  } finally {
    await flush();
  }
}

/** Reads the configuration again. The log has the outcome. */
function reload({ configChanges }: RunningApp, log: Log): void {
  if (configChanges === null) {
    return log.warn("reload_unsupported", { signal: "SIGHUP", reason: "the configuration is read only at start" });
  }
  configChanges().then((changes) => changes.reload({ by: "SIGHUP" })).catch(() => {}); // The change itself is logged.
}
