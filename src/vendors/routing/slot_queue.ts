import type { Clock } from "../../platform/lib/basics/clock.ts";
import { FairQueue } from "../../platform/lib/collections/fair_queue.ts";
import { Holdings } from "../../platform/lib/collections/holdings.ts";
import { holdState } from "../../platform/lib/basics/held.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { gcra } from "../../platform/store/gcra.ts";
import { UpstreamFailure } from "../upstreams/call/failure.ts";
import type { WaitingLimits } from "../upstreams/settings/provider_limits.ts";
import { SlotShares, type SlotSharesOptions } from "./slot_shares.ts";

/** The right to make one attempt at a provider. */
export interface Slot {
  /**
   * Returns the slot. A second call has no effect.
   *
   * @param usedTokens The tokens of the prompt and the output. They replace the estimate.
   */
  end(usedTokens: number): void;
}

/** An attempt that needs a slot. */
export interface SlotRequest {
  /** The account that is charged. */
  readonly accountId: string;
  /** The estimated number of tokens of the prompt. */
  readonly tokens: number;
  /** Returns the signal that fires when the caller disconnects. Called only if the attempt waits. Default: none. */
  readonly callerSignal?: (() => AbortSignal) | undefined;
  /** False if the attempt is refused at once without a free slot, because another credential may have one. */
  readonly mayWait?: boolean;
}

/** The maximum number of attempts that wait for one provider. */
export const MAX_WAITING = 1_000;

const MINUTE_MS = 60_000;

/** The longest time for which the tokens of earlier attempts block later ones. */
const MAX_TOKEN_DEBT_MS = 300_000;

/** The limit that blocks an attempt, for the error. */
const LIMIT_NAMES = {
  concurrency: "concurrent requests",
  rpm: "requests per minute",
  tpm: "tokens per minute",
} as const;

/** Why an attempt cannot start now, and the milliseconds until it can; 0 if only the end of another decides. */
interface Blockage {
  readonly limit: keyof typeof LIMIT_NAMES;
  readonly waitMs: number;
  /** The milliseconds until another look, where that is not `waitMs`. */
  readonly retryMs?: number;
  /** Ends when a larger share of a limit was leased or refused. Never rejects. */
  readonly leased?: Promise<void> | null;
}

interface Waiter {
  readonly accountId: string;
  readonly tokens: number;
  readonly onSlot: (slot: Slot) => void;
}

/**
 * The slots of one provider: at most `concurrency` are open, at most `rpm` are taken per minute, and at most `tpm`
 * tokens are used per minute.
 *
 * The two rates are buckets that hold one minute's units (see {@linkcode gcra}), as those of most vendors. An attempt
 * takes the estimated tokens of its prompt, and at its end the difference to the tokens that it used. If these exceed
 * the bucket, later attempts wait until it has earned the difference.
 *
 * Attempts that find no free slot wait, at most `maxWaitMs`. Free slots go to the waiting accounts in turn, so that
 * with k waiting accounts each one gets one of the next k slots. An account may wait with another attempt while it has
 * fewer waiting than there are free places, so that it cannot fill the queue for others.
 *
 * An account with long replies keeps its slots while others wait. So accounts that hold less than an equal share of
 * `concurrency` come first: the share is `concurrency` divided by the accounts that hold or await a slot, at least one.
 *
 * If other processes call the provider too, an attempt also waits until the shares of this process cover it: see
 * {@linkcode SlotShares}. Waiting attempts of several processes are not in one order.
 */
export class SlotQueue {
  readonly #waiting = new FairQueue<Waiter>();
  /** The attempts that may not wait but for a share. */
  #awaitingLease = 0;
  /** The slots that each account has. */
  readonly #held = new Holdings();
  /** When the bucket of requests is full, in monotonic milliseconds. */
  #requestsFullAt = 0;
  /** When the bucket of tokens is full. Further ahead than a minute while the tokens used exceed the bucket. */
  #tokensFullAt = 0;
  #stopTimer: () => void = () => {};

  /** The provider's name, for errors. */
  readonly provider: string;
  /** The shares of this process; null if it alone has the limits. */
  readonly #shares: SlotShares | null;

  /**
   * @param id Of the provider or the credential.
   * @param shared How other processes have the limits too; null if none do.
   */
  constructor(
    id: string,
    public limits: WaitingLimits,
    readonly clock: Clock,
    shared: SlotSharesOptions | null = null,
  ) {
    this.provider = providerNameOf(id);
    this.#shares = shared === null ? null : new SlotShares(id, shared);
  }

  /** The number of slots that are taken. */
  get open(): number {
    return this.#held.total;
  }

  /** The number of attempts that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Replaces the limits. Attempts that have a slot keep it. */
  setLimits(limits: WaitingLimits): void {
    this.limits = limits;
    this.#serve();
  }

  /** Takes a slot, see `AttemptSlots.take`. */
  take(request: SlotRequest): MaybePromise<Slot> {
    const isFirst = this.#waiting.size === 0;
    const blockage = isFirst ? this.#blockageOf(request.tokens) : this.#blockageOfNext();
    if (isFirst && blockage === null) return this.#grant(request);
    const isTooLong = blockage !== null && blockage.waitMs > this.limits.maxWaitMs;
    const isFull = this.#waiting.sizeOf(request.accountId) >= MAX_WAITING - this.#waiting.size;
    if (isTooLong || isFull || this.limits.maxWaitMs === 0 || request.mayWait === false) {
      // The slot may be free, which is known when the share was leased or refused.
      if (isFirst && blockage?.leased) return this.#takeAfter(blockage.leased, request);
      return Promise.reject(this.#busy(blockage));
    }
    return this.#wait(request);
  }

  async #takeAfter(leased: Promise<void>, request: SlotRequest): Promise<Slot> {
    this.#awaitingLease++;
    await leased;
    this.#awaitingLease--;
    return await this.take(request);
  }

  /** Renews the shares of this process; see {@linkcode SlotShares.renew}. */
  async renewShares(isLast = false): Promise<void> {
    await this.#shares?.renew(isLast);
  }

  #wait({ accountId, tokens, callerSignal }: SlotRequest): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const signal = callerSignal?.();
      if (signal?.aborted) return reject(this.#left());
      const stopWaiting = () => {
        stopTimer();
        signal?.removeEventListener("abort", onLeft);
      };
      const waiter: Waiter = {
        accountId,
        tokens,
        onSlot(slot) {
          stopWaiting();
          resolve(slot);
        },
      };
      const giveUp = (failure: UpstreamFailure) => {
        stopWaiting();
        this.#waiting.remove(accountId, waiter);
        reject(failure);
        this.#serve(); // The next attempt may need fewer tokens.
      };
      const onLeft = () => giveUp(this.#left());
      const stopTimer = this.clock.after(this.limits.maxWaitMs, () => giveUp(this.#busy(this.#blockageOfNext())));
      signal?.addEventListener("abort", onLeft);
      this.#waiting.push(accountId, waiter);
      this.#serve();
    });
  }

  /** Gives free slots to the waiting attempts, and waits for the next one. */
  #serve(): void {
    this.#stopTimer();
    while (this.#waiting.size > 0) {
      if (this.#isFull) return;
      const isPreferred = this.#belowShare();
      const blockage = this.#blockageOf(this.#waiting.peek(isPreferred)!.tokens);
      if (blockage !== null) {
        const { waitMs, retryMs = waitMs, leased } = blockage;
        if (leased) holdState(leased.then(() => this.#serve()), "slots of a provider");
        else if (retryMs > 0) this.#stopTimer = this.clock.after(retryMs, () => this.#serve());
        return;
      }
      const next = this.#waiting.shift(isPreferred)!;
      next.onSlot(this.#grant(next));
    }
  }

  /** Returns whether an account has fewer slots than its share, as of now. Without `concurrency`, all are equal. */
  #belowShare(): ((account: string) => boolean) | undefined {
    const { concurrency } = this.limits;
    const held = this.#held;
    if (concurrency === undefined || held.holders === 0) return undefined;
    const waitingOnly = this.#waiting.countAccounts((account) => held.of(account) === 0);
    const share = Math.max(1, Math.floor(concurrency / (held.holders + waitingOnly)));
    return (account) => held.of(account) < share;
  }

  /** Whether as many slots are open as may be. */
  get #isFull(): boolean {
    const { concurrency } = this.limits;
    return concurrency !== undefined && this.open >= concurrency;
  }

  #blockageOfNext(): Blockage | null {
    if (this.#isFull) return { limit: "concurrency", waitMs: 0 };
    const next = this.#waiting.peek(this.#belowShare());
    return next === null ? null : this.#blockageOf(next.tokens);
  }

  #blockageOf(tokens: number): Blockage | null {
    if (this.#isFull) return { limit: "concurrency", waitMs: 0 };
    const { rpm, tpm } = this.limits;
    const now = this.clock.monotonicMs();
    if (rpm !== undefined) {
      const { ok, waitMs } = gcra(this.#requestsFullAt, now, requestRate(rpm));
      if (!ok) return { limit: "rpm", waitMs };
    }
    if (tpm !== undefined) {
      const { ok } = gcra(this.#tokensFullAt, now, tokenRate(tpm, tokens));
      // Not the wait of `gcra`, which limits a debt to an empty bucket.
      if (!ok) return { limit: "tpm", waitMs: this.#tokenWaitMs(tpm, tokens, now) };
    }
    if (this.#shares === null) return null;
    const units = tpm === undefined ? 0 : tokenRate(tpm, tokens).cost;
    return this.#shares.uncovered(this.limits, units, this.waiting + this.#awaitingLease);
  }

  #tokenWaitMs(tpm: number, tokens: number, now: number): number {
    const { perMs, burst, cost } = tokenRate(tpm, tokens);
    return Math.max(1, Math.ceil(this.#tokensFullAt - (burst - cost) * perMs - now));
  }

  /** Opens a slot. Nothing blocks it. */
  #grant({ accountId, tokens }: Pick<SlotRequest, "accountId" | "tokens">): Slot {
    const { limits } = this;
    const { rpm, tpm } = limits;
    const now = this.clock.monotonicMs();
    const taken = tpm === undefined ? 0 : tokenRate(tpm, tokens).cost;
    this.#shares?.begin(limits, taken);
    this.#held.add(accountId, 1);
    if (rpm !== undefined) this.#requestsFullAt = gcra(this.#requestsFullAt, now, requestRate(rpm)).fullAt;
    if (tpm !== undefined) this.#tokensFullAt = gcra(this.#tokensFullAt, now, tokenRate(tpm, tokens)).fullAt;
    let isOpen = true;
    return {
      end: (usedTokens) => {
        if (!isOpen) return;
        isOpen = false;
        this.#held.add(accountId, -1);
        if (tpm !== undefined) this.#correctTokens(tpm, usedTokens - taken, now);
        this.#shares?.end(limits, usedTokens - taken, this.open);
        this.#serve();
      },
    };
  }

  /** Takes more tokens, or gives back those that the bucket has not earned since they were taken. */
  #correctTokens(tpm: number, difference: number, takenAt: number): void {
    const now = this.clock.monotonicMs();
    const differenceMs = difference * MINUTE_MS / tpm;
    const correctionMs = difference > 0 ? differenceMs : Math.min(0, differenceMs + now - takenAt);
    const fullAt = Math.max(this.#tokensFullAt, now) + correctionMs;
    this.#tokensFullAt = Math.min(fullAt, now + MINUTE_MS + MAX_TOKEN_DEBT_MS);
  }

  #busy(blockage: Blockage | null): UpstreamFailure {
    const { limit, waitMs } = blockage ?? { limit: this.#mainLimit(), waitMs: 0 };
    const message = `Provider "${this.provider}" has no free place within its limit of ${LIMIT_NAMES[limit]}; ` +
      "retry later";
    return new UpstreamFailure(this.provider, "rate_limited", message, {
      status: null,
      accepted: "no",
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    });
  }

  #mainLimit(): keyof typeof LIMIT_NAMES {
    const { rpm, concurrency } = this.limits;
    return concurrency !== undefined ? "concurrency" : rpm !== undefined ? "rpm" : "tpm";
  }

  #left(): UpstreamFailure {
    const message = `Provider "${this.provider}" was not called, because the caller disconnected`;
    return new UpstreamFailure(this.provider, "cancelled", message, { status: null, accepted: "no" });
  }
}

function requestRate(rpm: number) {
  return { perMs: MINUTE_MS / rpm, burst: rpm, cost: 1 };
}

/** An attempt with more tokens than the bucket holds takes a full bucket. */
function tokenRate(tpm: number, tokens: number) {
  return { perMs: MINUTE_MS / tpm, burst: tpm, cost: Math.min(Math.max(tokens, 1), tpm) };
}
