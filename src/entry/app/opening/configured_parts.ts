import { isDeepStrictEqual } from "node:util";
import { LiveCatalog } from "../../../vendors/catalog/live_catalog.ts";
import { readCaFile } from "../../../config/ca_file.ts";
import { builtInFamilyOf } from "../../../config/environment.ts";
import type { Config } from "../../../config/config.ts";
import type { OtherAnswer } from "../../../conversation/models/answering_models.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { readCidr } from "../../../platform/net/address.ts";
import type { EgressPolicy, OwnAddress } from "../../../platform/net/target.ts";
import { servingProviders } from "../../../vendors/upstreams/settings/serving_providers.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import { openProviders, type Providers } from "../../../vendors/upstreams/opening/providers.ts";

/**
 * The shared parts that follow from one configuration. A change of the configuration makes new ones; a request uses
 * those that were in force when it began. See docs/decisions/0066-change-without-restart.md.
 */
export interface ConfiguredParts {
  readonly config: Config;
  readonly catalog: LiveCatalog;
  /** By name. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly openedProviders: Providers;
  /** The rules for addresses that callers and vendors name. */
  readonly egress: EgressPolicy & { readonly caCertificates: readonly string[] };
}

/** Options of {@linkcode openConfiguredParts}. */
export interface ConfiguredPartsOptions {
  readonly clock: Clock;
  /** The gateway's own addresses, which `egress` refuses. */
  readonly ownAddresses: readonly OwnAddress[];
  /** The parts of the configuration before. Providers with equal settings are shared. Default: none. */
  readonly previous?: ConfiguredParts;
  /** Called once for each other model with which a vendor answers. */
  readonly onOtherAnswer?: (answer: OtherAnswer) => void;
}

/**
 * Opens the parts of a configuration. Nothing that exists already changes.
 *
 * @throws {ConfigError} If `egress.ca_file` cannot be read.
 */
export async function openConfiguredParts(config: Config, options: ConfiguredPartsOptions): Promise<ConfiguredParts> {
  const { clock, ownAddresses, previous, onOtherAnswer } = options;
  const read = config.egress.caFile === null ? [] : [await readCaFile(config.egress.caFile)];
  const known = previous?.egress.caCertificates;
  const caCertificates = known !== undefined && isDeepStrictEqual(known, read) ? known : read;
  const shared = {
    clock,
    caCerts: caCertificates,
    proxies: config.proxies,
    builtInFamilyOf,
    ...onOtherAnswer !== undefined && { onOtherAnswer },
  };
  const openedProviders = await openProviders(config.providers, shared, previous?.openedProviders);
  return {
    config,
    catalog: new LiveCatalog(config.models, config.aliases, servingProviders(config.providers)),
    providers: openedProviders.byName,
    openedProviders,
    egress: { allow: config.egress.allow.map(readCidr), own: ownAddresses, caCertificates, clock },
  };
}

/** Logs each other model with which a vendor answers once, and passes it to the threads. */
export class OtherAnswers {
  /** Threads that answer requests add their own. */
  readonly listeners: ((answer: OtherAnswer) => void)[] = [];

  constructor(private readonly log: Log) {}

  /** A vendor has answered with another model than the requested one, for the first time. */
  readonly note = (answer: OtherAnswer): void => {
    const { provider, asked, answering } = answer;
    this.log.info("other_model_answered", { provider, model: asked, ref: answering });
    for (const listener of this.listeners) listener(answer);
  };
}
