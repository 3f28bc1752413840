import { recentlyErased } from "../../../money/billing/accounts/erase_account.ts";
import { ConfigError } from "../../../config/tree/config_error.ts";
import { readCurrentVersion } from "../../../config/diff/stored_config.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import type { JobRunner } from "../../../platform/store/job_runner.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { SigningKeyRing } from "../../../services/videos/results/signing_keys.ts";
import type { ConfigChanges } from "../operators/config_changes.ts";

/** What {@linkcode followChanges} needs. */
export interface FollowedParts {
  readonly store: Pick<Store, "get" | "scan">;
  readonly clock: Clock;
  readonly log: Log;
  readonly signingKeys: Pick<SigningKeyRing, "refresh">;
  /** Removes what is kept in memory of an account's replies. */
  readonly forgetReplies: (account: string) => void;
  /** Puts prices in use that another gateway has stored. */
  readonly followPrices: () => Promise<void>;
  /** Null if the configuration is not changed while the gateway runs. */
  readonly configChanges: (() => Promise<Pick<ConfigChanges, "version" | "follow">>) | null;
}

/** With the time of a read, what another gateway changed holds here within five seconds. */
const INTERVAL_MS = 2_000;

/**
 * Reads every two seconds what other gateways on the store may have changed and this one holds in memory: the signing
 * keys, the settings in the store, the prices of the price source and the replies of erased accounts. Keys and accounts
 * of callers are cached for five seconds anyway.
 *
 * A version of the settings that does not fit the file of this gateway is logged once and not tried again.
 */
export function followChanges(
  { store, clock, log, signingKeys, forgetReplies, followPrices, configChanges }: FollowedParts,
): JobRunner {
  let refused = 0;
  let erased: readonly string[] = [];
  let isEnded = false;
  let stopTimer = () => {};
  let reading: Promise<void> = Promise.resolve();

  async function followConfig(): Promise<void> {
    if (configChanges === null) return;
    const version = await readCurrentVersion(store);
    if (version === 0 || version === refused) return;
    const changes = await configChanges();
    try {
      await changes.follow();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      refused = version;
    }
  }

  async function followErasures(): Promise<void> {
    const known = erased;
    erased = await recentlyErased(store);
    for (const account of erased) if (!known.includes(account)) forgetReplies(account);
  }

  async function read(): Promise<void> {
    try {
      await signingKeys.refresh();
      await followErasures();
      await followConfig();
      await followPrices();
    } catch (error) {
      log.warn("changes_not_read", { reason: errorName(error) });
    }
    if (!isEnded) readLater();
  }

  function readLater(): void {
    stopTimer = clock.after(INTERVAL_MS, () => void (reading = read()));
  }

  readLater();
  return {
    running: 0,
    async drain() {
      isEnded = true;
      stopTimer();
      await reading;
    },
  };
}
