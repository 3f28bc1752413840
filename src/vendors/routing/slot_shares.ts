import { LimitShare, type ShareOptions } from "../../money/limits/limit_share.ts";
import type { ProviderLimits } from "../upstreams/settings/provider_limits.ts";

/** What the shares of a provider's limits need. */
export interface SlotSharesOptions extends ShareOptions {
  /** The processes that have the limits, with this one. */
  readonly gateways: () => number;
}

/** A limit whose share does not cover an attempt. */
export interface UncoveredLimit {
  readonly limit: keyof ProviderLimits;
  /** The milliseconds until it can be covered; 0 if that is not known. */
  readonly waitMs: number;
  /** The milliseconds until another look at the limit. */
  readonly retryMs: number;
  /** Ends when a larger share was leased, or was refused; null if it was refused a moment ago. Never rejects. */
  readonly leased: Promise<void> | null;
}

/** Waiting attempts look so often whether others have returned what they need. */
const RETRY_MS = 100;
/** What was returned for others is not leased again for so long, so that those who look for it find it. */
const RETURNED_MS = 200;
/** Attempts that end within it return their shares together. */
const RETURN_DELAY_MS = 20;
const MINUTE_MS = 60_000;

/**
 * The shares of the limits of one provider that this process leases, if other processes call the provider too. Together
 * they exceed no limit. A process with more than an equal share of `concurrency` returns what its attempts release, so
 * that the attempts of others do not wait until it needs less.
 */
export class SlotShares {
  readonly #shares: Readonly<Record<keyof ProviderLimits, LimitShare>>;
  #leasing: Promise<void> | null = null;
  /** What is returned in a moment, and until when nothing is leased in its place. */
  #returned = { units: 0n, until: -Infinity };
  #stopReturn: (() => void) | null = null;

  constructor(id: string, private readonly options: SlotSharesOptions) {
    const share = (limit: keyof ProviderLimits, refills: boolean) =>
      new LimitShare(["provider", id, limit], refills, options);
    this.#shares = { concurrency: share("concurrency", false), rpm: share("rpm", true), tpm: share("tpm", true) };
  }

  /**
   * The first limit whose share does not cover the next attempt; null if all do. Then a larger share is being leased.
   *
   * @param tokens Those that the attempt takes.
   * @param waiting The attempts that wait.
   */
  uncovered(limits: ProviderLimits, tokens: number, waiting: number): UncoveredLimit | null {
    const isCovered = (limit: keyof ProviderLimits) => {
      const extra = limit === "concurrency" ? this.#returned.units : 0n;
      return limits[limit] === undefined || this.#shares[limit].covers(unitsOf(limit, tokens) + extra);
    };
    const missing = LIMITS.filter((limit) => !isCovered(limit));
    const [first] = missing;
    if (first === undefined) return null;
    for (const limit of missing) {
      const isReturned = limit === "concurrency" && this.options.clock.monotonicMs() < this.#returned.until;
      if (!isReturned && !this.#shares[limit].isShortOf(unitsOf(limit, tokens))) continue;
      const waitMs = this.#waitMs(limit, { value: limits[limit] ?? 0, tokens });
      return { limit, waitMs, retryMs: Math.max(RETRY_MS, waitMs), leased: null };
    }
    const wanted = missing.map((limit) => ({
      share: this.#shares[limit],
      value: limits[limit] ?? 0,
      units: unitsOf(limit, tokens),
      wanted: limit === "tpm" ? unitsOf(limit, tokens) : BigInt(Math.max(1, waiting)),
    }));
    this.#leasing ??= this.#lease(wanted).finally(() => this.#leasing = null);
    return { limit: first, waitMs: 0, retryMs: 0, leased: this.#leasing };
  }

  /** Counts an attempt that begins. */
  begin({ concurrency, rpm, tpm }: ProviderLimits, tokens: number): void {
    if (concurrency !== undefined) this.#shares.concurrency.reserve(1n);
    if (rpm !== undefined) this.#shares.rpm.settle(0n, 1n);
    if (tpm !== undefined) this.#shares.tpm.settle(0n, unitsOf("tpm", tokens));
  }

  /**
   * Counts the end of an attempt.
   *
   * @param had The limits at its begin.
   * @param moreTokens The tokens that it used beyond those at its begin.
   * @param open The attempts that are still open.
   */
  end(had: ProviderLimits, moreTokens: number, open: number): void {
    if (had.tpm !== undefined && moreTokens > 0) this.#shares.tpm.settle(0n, BigInt(Math.ceil(moreTokens)));
    if (had.concurrency === undefined) return;
    const { concurrency } = this.#shares;
    concurrency.settle(1n, 0n);
    const { clock, gateways } = this.options;
    const count = gateways();
    if (count < 2 || open < Math.floor(had.concurrency / count)) return;
    this.#returned = { units: this.#returned.units + 1n, until: clock.monotonicMs() + RETURNED_MS };
    this.#stopReturn ??= clock.after(RETURN_DELAY_MS, () => {
      this.#stopReturn = null;
      this.#returned = { ...this.#returned, units: 0n };
      concurrency.giveBack().catch(() => {}); // the lease ends by itself
    });
  }

  /**
   * Renews the shares that are in use, and returns those that are not. Called every few seconds. Never rejects.
   *
   * @param isLast Whether no attempt follows, at the end of the process.
   */
  async renew(isLast = false): Promise<void> {
    if (isLast) this.#stopReturn?.();
    const due = Object.values(this.#shares).filter((share) => share.isRenewalDue(isLast));
    await Promise.allSettled(due.map((share) => share.lease(0n, share.limit)));
  }

  async #lease(all: readonly WantedShare[]): Promise<void> {
    await Promise.all(all.map(async ({ share, value, units, wanted }) => {
      const isRefused = await share.lease(wanted, BigInt(value)).then((answer) => answer?.isWhole !== true, () => true);
      if (isRefused && !share.covers(units)) share.noteShort(units, RETRY_MS);
    }));
  }

  /** The time in which a limit per minute regains what is missing, if others return nothing. */
  #waitMs(limit: keyof ProviderLimits, { value, tokens }: { readonly value: number; readonly tokens: number }): number {
    if (limit === "concurrency") return 0;
    const missing = Number(unitsOf(limit, tokens)) - (this.#shares[limit].left ?? 0);
    return Math.max(1, Math.ceil(missing * MINUTE_MS / value));
  }
}

interface WantedShare {
  readonly share: LimitShare;
  /** The limit. */
  readonly value: number;
  /** What the next attempt needs. */
  readonly units: bigint;
  /** What all that wait need. */
  readonly wanted: bigint;
}

const LIMITS = ["concurrency", "rpm", "tpm"] as const;

function unitsOf(limit: keyof ProviderLimits, tokens: number): bigint {
  return limit === "tpm" ? BigInt(Math.ceil(tokens)) : 1n;
}
