import type { Authenticate } from "../billing/authenticate.ts";
import type { OpenStreams } from "../calls/stream_relay.ts";
import type { DatedCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { ReplayRouteOptions } from "../replays/replay_route.ts";
import type { Store } from "../store/store.ts";

/** The dependencies of {@linkcode replayOptions}. */
export interface ReplayServices {
  readonly config: Pick<Config, "limits">;
  readonly store: Store;
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly log: Log;
  readonly openStreams: OpenStreams;
  readonly catalog: DatedCatalog;
}

/** The options of routes that accept an `Idempotency-Key`, on the main thread and in threads alike. */
export function replayOptions(
  { config: { limits }, store, authenticate, clock, log, catalog, openStreams: { detached } }: ReplayServices,
): ReplayRouteOptions {
  const { bodyIdleMs: idleMs, idempotency: settings } = limits;
  const { textBodyBytes, imageBodyBytes, editBodyBytes, inputBodyBytes, audioBodyBytes } = limits;
  const capBytes = Math.max(textBodyBytes, imageBodyBytes, editBodyBytes, inputBodyBytes, audioBodyBytes);
  return { store, authenticate, clock, log, catalog, detached, body: { capBytes, idleMs }, settings };
}
