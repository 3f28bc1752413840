import { type AuthenticateParts, createAuthenticate } from "../../../money/billing/authenticate.ts";
import type { KeyRing } from "../../../money/billing/keys/key_ring.ts";
import { capturedBodyBytes } from "../../../config/sections/captured_bodies.ts";
import type { RequestRouter } from "../../../platform/http/request_handler.ts";
import type { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import type { Spool } from "../../../platform/files/spool.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { OpenStreams } from "../../../services/calls/stream_relay.ts";
import { withReplays } from "../../../services/replays/replay_route.ts";
import type { LeasedMeter } from "../../../threads/leases/leased_meter.ts";
import { withLargeBodies } from "../../../threads/serving/large_route.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import { replayOptions } from "../opening/replays.ts";
import { catalogRoutes } from "../routes/catalog_routes.ts";
import { lateThreadRoutes } from "../routes/late_endpoints.ts";
import { createRouter } from "../routing/router.ts";
import { routerOptions } from "../routing/router_options.ts";
import { answerInLargeThread } from "../features/text_routes.ts";
import { largeByHandOn } from "./hand_on.ts";
import type { IsolateReplies } from "./isolate_replies.ts";
import { threadTexts } from "./thread_routes.ts";

/** What the endpoints of an isolate have in common under all configurations. */
export interface IsolateRoutesParts {
  readonly state: RemoteState;
  readonly meter: LeasedMeter;
  readonly keys: KeyRing;
  readonly breaker: CircuitBreaker;
  /** Counts the wrong keys of requests for catalogs, with those of other threads. */
  readonly publicWrongKeys: Pick<WrongKeys, "note" | "isSlowed">;
  readonly replies: IsolateReplies;
  readonly openStreams: OpenStreams;
  /** The uploads of requests under way. */
  readonly uploads: Spool;
  /** The public address of the gateway, without a final slash. */
  readonly baseUrl: string;
  readonly clock: Clock;
}

/** Builds the endpoints that an isolate answers under one configuration. */
export function isolateRouter(parts: ConfiguredParts, isolate: IsolateRoutesParts): RequestRouter {
  const { state, meter, keys, breaker, publicWrongKeys, replies, openStreams, uploads, baseUrl, clock } = isolate;
  const { store, slots, log } = state;
  const { config, catalog } = parts;
  const { limits, requestLog } = config;
  const ratesMeter: NonNullable<AuthenticateParts["meter"]> = {
    ratesLeft(caller) {
      const left = meter.ratesLeft(caller);
      return left === undefined ? state.ratesLeft(caller) : left;
    },
  };
  const authenticate = createAuthenticate({
    ring: keys,
    wrongKeys: state.wrongKeys,
    meter: ratesMeter,
    clock,
    captureBytes: capturedBodyBytes(requestLog),
  });
  const bodyLimits = { capBytes: limits.textBodyBytes, idleMs: limits.bodyIdleMs };
  const large = largeByHandOn(state, openStreams);
  const { texts, routes, results } = threadTexts({
    parts,
    state: { meter, slots, store, log },
    breaker,
    reasoning: replies.reasoning,
    items: replies.items,
    openStreams,
    authenticate,
    bodyLimits,
    elsewhere: answerInLargeThread(large, limits.largeBodyBytes),
  });
  const calls = {
    ...parts,
    meter,
    breaker,
    slots,
    openStreams,
    authenticate,
    clock,
    log,
    random: Math.random,
    media: state.media,
    bodies: state.bodies,
    store,
    files: { uploads, results },
  };
  const largeRoute = { large, authenticate, limits: bodyLimits, largeBytes: limits.largeBodyBytes };
  const hasAdmin = config.server.adminListen === null; // as on the main thread
  const answered = [
    // Reads of cached contents count in a rate of the main thread.
    ...routes.filter(({ format }) => format !== undefined).map((route) => withLargeBodies(route, largeRoute)),
    ...lateThreadRoutes(calls),
    ...catalogRoutes({ ...parts, keys, meter: ratesMeter, clock, publicWrongKeys }, texts),
  ];
  const { idempotencyCounts } = state;
  const replayed = withReplays(
    answered,
    replayOptions({ config, store, idempotencyCounts, authenticate, clock, log, openStreams, catalog }),
  );
  return createRouter(replayed, routerOptions(() => baseUrl, { hasAdmin }));
}
