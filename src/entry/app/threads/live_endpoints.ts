import type { ListedStep } from "../../../vendors/catalog/listed_step.ts";
import type { Config } from "../../../config/config.ts";
import type { OtherAnswer } from "../../../conversation/models/answering_models.ts";
import type { RequestRouter } from "../../../platform/http/request_handler.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { errorName } from "../../../platform/lib/basics/log.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { OwnAddress } from "../../../platform/net/target.ts";
import { noteOtherAnswer } from "../../../services/texts/relay/answering_model.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";
import { limitsByProvider } from "../../../vendors/upstreams/settings/provider_limits.ts";
import { type ConfiguredParts, openConfiguredParts } from "../opening/configured_parts.ts";

/** What the endpoints of a serving thread have in common under all configurations. */
export interface LiveEndpointsParts<Router extends RequestRouter> {
  readonly state: RemoteState;
  /** The gateway's own addresses, which grow. */
  readonly ownAddresses: readonly OwnAddress[];
  readonly clock: Clock;
  /** Builds the endpoints of one configuration. */
  readonly routerOf: (parts: ConfiguredParts) => MaybePromise<Router>;
  /** Called when another configuration is active. Default: nothing. */
  readonly onChanged?: () => void;
}

/** What follows from one configuration. A request uses the one that was active when it arrived. */
interface Generation<Router> {
  readonly parts: ConfiguredParts;
  readonly router: Router;
}

/** A configuration, and the models that providers list. */
export interface Configured {
  readonly config: Config;
  readonly listed: readonly ListedStep[];
}

/** The endpoints of a serving thread, whose configuration can be replaced while it runs. */
export class LiveEndpoints<Router extends RequestRouter> {
  #current: Generation<Router>;
  #changing: Promise<void> = Promise.resolve();

  private constructor(private readonly parts: LiveEndpointsParts<Router>, first: Generation<Router>) {
    this.#current = first;
  }

  /**
   * Opens the endpoints of the first configuration.
   *
   * @throws {ConfigError} If `egress.ca_file` cannot be read.
   */
  static async open<Router extends RequestRouter>(
    configured: Configured,
    parts: LiveEndpointsParts<Router>,
  ): Promise<LiveEndpoints<Router>> {
    return new LiveEndpoints(parts, await openGeneration(configured, null, parts));
  }

  /** The active configuration. */
  get config(): Config {
    return this.#current.parts.config;
  }

  /** The active endpoints. */
  get router(): Router {
    return this.#current.router;
  }

  /** Resolves when the configurations that were set so far are active. */
  get changesApplied(): Promise<void> {
    return this.#changing;
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
    const { state: { log }, onChanged = () => {} } = this.parts;
    try {
      const before = this.#current.parts;
      this.#current = await openGeneration(configured, before, this.parts);
      before.openedProviders.close(this.#current.parts.openedProviders);
    } catch (error) {
      log.error("isolate_config_failed", { reason: errorName(error) });
    }
    onChanged();
  }
}

async function openGeneration<Router extends RequestRouter>(
  { config, listed }: Configured,
  previous: ConfiguredParts | null,
  { state, ownAddresses, clock, routerOf }: LiveEndpointsParts<Router>,
): Promise<Generation<Router>> {
  const parts = await openConfiguredParts(config, {
    clock,
    ownAddresses,
    onOtherAnswer: (answer) => state.link.post({ type: "other-answer", answer }),
    ...previous === null ? {} : { previous },
  });
  parts.catalog.replaceListed(listed);
  state.setLimits(limitsByProvider(config.providers));
  return { parts, router: await routerOf(parts) };
}
