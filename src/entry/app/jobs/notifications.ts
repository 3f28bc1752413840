import { FailingProviders } from "../../../services/notifications/failing_providers.ts";
import type { JobHandler, JobRunner } from "../../../platform/store/job_runner.ts";
import { laterBy } from "../../../platform/store/store_time.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import type { OwnedServices } from "../opening/own.ts";
import { startPeriodicJob } from "./periodic_job.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const runPassModule = new Late(() => import("../../../services/notifications/run_pass.ts"));

/** Time between two passes over all accounts, and before the first one. */
const PASS_EVERY_MS = 60_000;
/** A pass takes at most this part of the time: a long one over many accounts is followed by a longer pause. */
const MAX_SHARE = 0.02;

/**
 * Starts the passes that find what notifications are due, in one process on the store at a time.
 *
 * @param current Gives the parts of the current configuration.
 */
export function startNotifications(services: OwnedServices, current: () => ConfiguredParts): JobRunner {
  return startPeriodicJob(services, {
    kind: "notification",
    firstAfterMs: PASS_EVERY_MS,
    handler: passHandler(services, current),
  });
}

function passHandler(services: OwnedServices, current: () => ConfiguredParts): JobHandler {
  const { store, clock } = services;
  return async (job) => {
    const beganMs = clock.monotonicMs();
    // Code is loaded for the first pass.
    const { runPass } = await runPassModule.load();
    await runPass({
      ...services,
      config: () => current().config.notifications,
      models: () => current().catalog.at(clock.now()).models,
    });
    const waitMs = Math.max(PASS_EVERY_MS, (clock.monotonicMs() - beganMs) / MAX_SHARE);
    return await store.commit(null, { postponeJobs: [{ job, dueAt: laterBy(store.now(), waitMs), attempt: 0 }] });
  };
}

/**
 * Watches for providers that fail, in every process that calls vendors.
 *
 * @param current Gives the parts of the current configuration.
 * @returns Ends with the drain.
 */
export function watchProviders(services: OwnedServices, current: () => ConfiguredParts): JobRunner {
  const { store, clock, log, breaker, onAttemptFailed } = services;
  const config = () => current().config.notifications;
  const failing = new FailingProviders({ store, clock, log, config, health: () => breaker.health() });
  onAttemptFailed.push(() => failing.noteFailure());
  return {
    running: 0,
    drain: async () => await failing.stop(),
  };
}
