import { type AuthenticateParts, createAuthenticate } from "../../../money/billing/authenticate.ts";
import type { Credential, KeyRing } from "../../../money/billing/keys/key_ring.ts";
import type { OpenStreams } from "../../../services/calls/stream_relay.ts";
import type { ListedStep } from "../../../vendors/catalog/listed_step.ts";
import type { Config } from "../../../config/config.ts";
import { capturedBodyBytes } from "../../../config/sections/captured_bodies.ts";
import type { OtherAnswer } from "../../../conversation/models/answering_models.ts";
import type { Inbound } from "../../../platform/http/request/inbound.ts";
import type { RequestRouter } from "../../../platform/http/request_handler.ts";
import type { IsolateData } from "../../../threads/isolates/messages.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Spool } from "../../../platform/files/spool.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import type { ThreadRelay } from "../../../threads/isolates/relay.ts";
import type { OwnAddress } from "../../../platform/net/target.ts";
import { withReplays } from "../../../services/replays/replay_route.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import { noteOtherAnswer } from "../../../services/texts/relay/answering_model.ts";
import type { LeasedMeter } from "../../../threads/thread_state/leased_meter.ts";
import type { RemoteState } from "../../../threads/thread_state/remote_state.ts";
import { limitsByProvider } from "../../../vendors/upstreams/settings/provider_limits.ts";
import { type ConfiguredParts, openConfiguredParts } from "../opening/configured_parts.ts";
import type { IsolateReplies } from "./isolate_replies.ts";
import { replayOptions } from "../opening/replays.ts";
import { catalogRoutes } from "../routes/catalog_routes.ts";
import { lateThreadRoutes } from "../routes/late_endpoints.ts";
import type { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import { createRouter, currentRouter } from "../routing/router.ts";
import { routerOptions } from "../routing/router_options.ts";
import { handOn } from "./hand_on.ts";
import { threadTexts } from "./thread_routes.ts";
import { withLargeBodies } from "../../../threads/large_requests/large_route.ts";
import { errorName } from "../../../platform/lib/basics/log.ts";

/** What the endpoints of an isolate have in common under all configurations. */
export interface LiveIsolateParts {
  readonly state: RemoteState;
  readonly meter: LeasedMeter;
  readonly keys: KeyRing;
  readonly breaker: CircuitBreaker;
  /** Counts the wrong keys of requests for catalogs, with those of other threads. */
  readonly publicWrongKeys: Pick<WrongKeys, "note" | "isSlowed">;
  readonly replies: IsolateReplies;
  readonly openStreams: OpenStreams;
  /** Sends what this thread does not parse to the main thread. */
  readonly relay: Pick<ThreadRelay, "sendRead">;
  /** The uploads of requests under way. */
  readonly uploads: Spool;
  /** The gateway's own addresses, which grow. */
  readonly ownAddresses: readonly OwnAddress[];
  /** The public address of the gateway, without a final slash. */
  readonly baseUrl: string;
  readonly clock: Clock;
}

/** What follows from one configuration. A request uses the one in force when it arrived. */
interface Generation {
  readonly parts: ConfiguredParts;
  readonly router: RequestRouter;
}

/** A configuration, and the models that providers list. */
type Configured = Pick<IsolateData, "config" | "listed">;

/** The endpoints of an isolate, whose configuration can be replaced while it runs. */
export class LiveIsolate {
  /** The endpoints of the configuration in force. */
  readonly router: RequestRouter = currentRouter(() => this.#current.router);
  #current: Generation;
  #changing: Promise<void> = Promise.resolve();

  private constructor(private readonly parts: LiveIsolateParts, first: Generation) {
    this.#current = first;
  }

  /**
   * Opens the endpoints of the first configuration.
   *
   * @throws {ConfigError} If `egress.ca_file` cannot be read.
   */
  static async open(configured: Configured, parts: LiveIsolateParts): Promise<LiveIsolate> {
    return new LiveIsolate(parts, await openGeneration(configured, null, parts));
  }

  /** The configuration in force. */
  get config(): Config {
    return this.#current.parts.config;
  }

  /** Replaces the models that providers list. */
  setListed(listed: readonly ListedStep[]): void {
    this.#current.parts.catalog.replaceListed(listed);
  }

  /** A vendor answered another thread with another model than the requested one. */
  noteOtherAnswer(answer: OtherAnswer): void {
    holdState(noteOtherAnswer(answer, { ...this.#current.parts, clock: this.parts.clock }), "a model that answers");
  }

  /** Uses another configuration for later requests. Resolves when they do; one that cannot be used is logged. */
  setConfig(configured: Configured): Promise<void> {
    return this.#changing = this.#changing.then(() => this.#change(configured));
  }

  async #change(configured: Configured): Promise<void> {
    const { state: { log }, meter } = this.parts;
    try {
      const before = this.#current.parts;
      this.#current = await openGeneration(configured, before, this.parts);
      before.openedProviders.close(this.#current.parts.openedProviders);
    } catch (error) {
      log.error("isolate_config_failed", { reason: errorName(error) });
    }
    meter.endAll(); // a limit can be lower
  }
}

async function openGeneration(
  { config, listed }: Configured,
  previous: ConfiguredParts | null,
  {
    state,
    meter,
    keys,
    breaker,
    publicWrongKeys,
    replies,
    openStreams,
    relay,
    uploads,
    ownAddresses,
    baseUrl,
    clock,
  }: LiveIsolateParts,
): Promise<Generation> {
  const { store, slots, log } = state;
  const parts = await openConfiguredParts(config, {
    clock,
    ownAddresses,
    onOtherAnswer: (answer) => state.link.post({ type: "other-answer", answer }),
    ...previous === null ? {} : { previous },
  });
  parts.catalog.replaceListed(listed);
  state.setLimits(limitsByProvider(config.providers));
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
  const toMainThread = handOn(relay);
  const bodyLimits = { capBytes: limits.textBodyBytes, idleMs: limits.bodyIdleMs };
  const { texts, routes, results } = threadTexts({
    parts,
    state: { meter, slots, store, log },
    breaker,
    reasoning: replies.reasoning,
    items: replies.items,
    openStreams,
    authenticate,
    bodyLimits,
    // The main thread reads stored files, or a thread for large requests.
    elsewhere: { aboveBytes: -1, answer: ({ inbound, json: { bytes } }) => toMainThread(inbound, bytes) },
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
  const large = {
    large: { handle: (inbound: Inbound, _credential: Credential, body: Uint8Array) => toMainThread(inbound, body) },
    authenticate,
    limits: bodyLimits,
    largeBytes: limits.largeBodyBytes,
  };
  const hasAdmin = config.server.adminListen === null; // as on the main thread
  const answered = [
    // Reads of cached contents count in a rate of the main thread.
    ...routes.filter(({ format }) => format !== undefined).map((route) => withLargeBodies(route, large)),
    ...lateThreadRoutes(calls),
    ...catalogRoutes({ ...parts, keys, meter: ratesMeter, clock, publicWrongKeys }, texts),
  ];
  const replayed = withReplays(
    answered,
    replayOptions({
      config,
      store,
      idempotencyCounts: state.idempotencyCounts,
      authenticate,
      clock,
      log,
      openStreams,
      catalog: parts.catalog,
    }),
  );
  return { parts, router: createRouter(replayed, routerOptions(() => baseUrl, { hasAdmin })) };
}
