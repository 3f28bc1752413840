import type { Authenticate } from "../../../money/billing/authenticate.ts";
import type { OpenStreams } from "../../../services/calls/stream_relay.ts";
import type { DatedCatalog } from "../../../vendors/catalog/catalog.ts";
import type { Config } from "../../../config/config.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { IdempotencyCounts } from "../../../money/limits/idempotency_counts.ts";
import type { ReplayRouteOptions } from "../../../services/replays/replay_route.ts";
import type { Store } from "../../../platform/store/store.ts";

/** The dependencies of {@linkcode replayOptions}. */
export interface ReplayServices {
  readonly config: Pick<Config, "limits">;
  readonly store: Store;
  readonly idempotencyCounts: IdempotencyCounts;
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly log: Log;
  readonly openStreams: OpenStreams;
  readonly catalog: DatedCatalog;
}

/** The options of routes that accept an `Idempotency-Key`, on the main thread and in threads alike. */
export function replayOptions(
  { config: { limits }, store, idempotencyCounts: counts, authenticate, clock, log, catalog, openStreams }:
    ReplayServices,
): ReplayRouteOptions {
  const { bodyIdleMs: idleMs, idempotency: settings } = limits;
  const { textBodyBytes, imageBodyBytes, editBodyBytes, inputBodyBytes, audioBodyBytes } = limits;
  const capBytes = Math.max(textBodyBytes, imageBodyBytes, editBodyBytes, inputBodyBytes, audioBodyBytes);
  const { detached } = openStreams;
  return { store, counts, authenticate, clock, log, catalog, detached, body: { capBytes, idleMs }, settings };
}

/** Creates the counts of a process, whose code is loaded by the first request with an `Idempotency-Key`. */
export function idempotencyCounts(store: Store): IdempotencyCounts {
  const counts = new Late(async () => new (await import("../../../services/replays/key_counts.ts")).KeyCounts(store));
  return {
    take: async (...args) => await (await counts.load()).take(...args),
    giveBack: async (...args) => await (await counts.load()).giveBack(...args),
  };
}
