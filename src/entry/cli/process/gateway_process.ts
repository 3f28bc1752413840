import { type RunningApp, startApp } from "../../app/app.ts";
import type { ServiceOptions } from "../../app/opening/services.ts";
import type { Config } from "../../../config/config.ts";
import { holdState, holdWork } from "../../../platform/lib/basics/held.ts";
import type { Log, LogFields } from "../../../platform/lib/basics/log.ts";
import { startMemoryReturn } from "../../../platform/workers/memory_return.ts";
import { watchLauncher } from "./launcher.ts";
import type { ProcessOutput } from "./process_output.ts";
import { listenForStop, reloadAtSignal } from "./stop_signals.ts";
import { openWatch } from "./watch.ts";

/** How a command starts the gateway. */
export interface GatewayCommand {
  readonly config: Config;
  /** How the configuration is changed while the gateway runs. Default: it is not changed. */
  readonly live?: ServiceOptions["live"];
  /** What is shown of a configuration that is not changed. Default: nothing. */
  readonly tree?: ServiceOptions["tree"];
  /** Whether the webhook secrets of new accounts are printed. */
  readonly showSecrets: boolean;
  /** How a store in PostgreSQL is shared with other gateways. Default: it is used beside them. */
  readonly sharing?: ServiceOptions["sharing"];
  /** What the gateway does. Default: everything. */
  readonly roles?: ServiceOptions["roles"];
}

/**
 * Starts the gateway of a command, and prints its address and the accounts that it created.
 * @throws What {@linkcode startApp} throws.
 */
export async function startGateway(
  { config, live, tree, showSecrets, sharing, roles }: GatewayCommand,
  { log, print, droppedLogLines }: ProcessOutput,
): Promise<RunningApp> {
  const given = { ...live && { live }, ...tree && { tree }, ...sharing && { sharing }, ...roles && { roles } };
  const app = await startApp({ config, log, droppedLogLines, ...given });
  // Jobs start by an alarm. This finds due jobs whose alarm was lost.
  holdState(Deno.cron("sweep due jobs", "* * * * *", async () => void await app.store.wakeOverdueJobs()), "due jobs");
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
 * the start takes effect after it, or at once if the start waits for another gateway.
 *
 * @param standby How a gateway that shares a database waits and ends. Default: it does neither.
 * @returns The exit code: 1 if another process has taken the store meanwhile.
 */
export async function runUntilSignal(
  { server }: Pick<Config, "server">,
  { log, flush }: ProcessOutput,
  start: () => Promise<RunningApp>,
  standby: Standby = { isWaiting: false, lost: new Promise(() => {}) },
): Promise<number> {
  const watch = openWatch(server, log);
  let onHangup = () => log.warn("reload_unsupported", { signal: "SIGHUP", reason: "the gateway is not ready" });
  const stopSignal = listenForStop({
    onSecond: () => holdWork(flush().then(() => Deno.exit(1))),
    onHangup: () => onHangup(),
  });
  try {
    // Its thread starts after the gateway, which needs the processor, or to end a stop meanwhile.
    holdState(stopSignal.then(() => (watch.onStop(), watch.start())), "the watch of a stop");
    const starting = start();
    const app = standby.isWaiting ? await startedUnless(stopSignal, starting) : await starting;
    if (app === null) return 0;
    watch.start();
    onHangup = reloaderOf(app, log);
    const stopMemoryReturn = startMemoryReturn();
    const orphaned = Promise.withResolvers<null>();
    const stopLauncherWatch = watchLauncher((name) => Deno.env.get(name), () => orphaned.resolve(null));
    const lost = standby.lost.then(() => "lost" as const);
    const signal = await Promise.race([stopSignal, lost, orphaned.promise]);
    watch.onStop();
    stopLauncherWatch();
    log.info("stopping", stopReasonOf(signal));
    stopMemoryReturn();
    await app.stop();
    log.info("stopped");
    return signal === "lost" ? 1 : 0;
  } finally {
    await flush();
  }
}

function stopReasonOf(signal: Deno.Signal | "lost" | null): LogFields {
  if (signal === null) return { reason: "the npm that started the gateway has ended" };
  return signal === "lost" ? { reason: "another process has taken the store" } : { signal };
}

/** How a gateway waits for the store, and how it ends when another process uses it alone. */
export interface Standby {
  /** Whether the start may wait for another gateway. */
  readonly isWaiting: boolean;
  /** Resolves when another process has taken the store, which this one shared. */
  readonly lost: Promise<void>;
}

const KEPT_ALIVE_MS = 60_000;

/** The gateway; null if a signal comes before it is ready. The process ends then, as after a kill. */
async function startedUnless(stopSignal: Promise<unknown>, starting: Promise<RunningApp>): Promise<RunningApp | null> {
  // While the database is away, no connection keeps the process alive.
  const timer = setInterval(() => {}, KEPT_ALIVE_MS);
  try {
    return await Promise.race([starting, stopSignal.then(() => null)]);
  } finally {
    clearInterval(timer);
  }
}

/** Reads the configuration again at a signal. The change itself is logged. */
function reloaderOf({ configChanges }: RunningApp, log: Log): () => void {
  if (configChanges === null) {
    return () =>
      log.warn("reload_unsupported", { signal: "SIGHUP", reason: "the configuration is read only at start" });
  }
  return reloadAtSignal(async () => await (await configChanges()).reload({ by: "SIGHUP", origin: "SIGHUP" }));
}
