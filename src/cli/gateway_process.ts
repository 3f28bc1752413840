import { type RunningApp, startApp } from "../app/app.ts";
import type { Config } from "../config/config.ts";
import { startMemoryReturn } from "../workers/memory_return.ts";
import type { ProcessOutput } from "./process_output.ts";
import { listenForStop } from "./stop_signals.ts";

/**
 * Starts the gateway of a command, and prints its address and the accounts that it created.
 *
 * @param showSecrets Whether the webhook secrets of new accounts are printed.
 * @throws What {@linkcode startApp} throws.
 */
export async function startGateway(
  config: Config,
  { log, print, droppedLogLines }: ProcessOutput,
  showSecrets: boolean,
): Promise<RunningApp> {
  const app = await startApp({ config, log, droppedLogLines });
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
  print(`Switchyard is ready at ${app.address}`);
  return app;
}

/**
 * Starts the gateway and stops it at the first signal. A second signal ends the process immediately. A signal during
 * the start takes effect after it.
 *
 * @returns The exit code.
 */
export async function runUntilSignal({ log, flush }: ProcessOutput, start: () => Promise<RunningApp>): Promise<number> {
  const stopSignal = listenForStop({ log, onSecond: () => void flush().then(() => Deno.exit(1)) });
  try {
    const app = await start();
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
