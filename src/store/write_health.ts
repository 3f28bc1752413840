import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Log } from "../lib/log.ts";

/** Whether a store takes writes. Paid work asks before it begins. */
export interface WriteGuard {
  /** Why the store takes no writes; null when it does, as far as is known. */
  readonly failure: string | null;
  /**
   * Passes when the store takes writes. Where nothing was written for some seconds it tries a small write, so that not
   * even the first call after a failure is lost.
   *
   * @throws {GatewayError} `storage_unavailable` with `Retry-After`; thrown or rejected with.
   */
  check(): void | Promise<void>;
}

/** What the health of writes is found out with. */
export interface WriteHealthOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Writes something small and durable; rejects when the database refuses it. */
  readonly probe: () => Promise<unknown>;
  /** Bytes that are free where the store and the files lie; null when that is not known. Default: not known. */
  readonly freeBytes?: () => number | null;
  /** Below that paid work is refused. Default 0. */
  readonly minFreeBytes?: number;
}

const TRUSTED_MS = 10_000;
const FREE_SPACE_TRUSTED_MS = 250;
const MIN_PROBE_DELAY_MS = 1_000;
const MAX_PROBE_DELAY_MS = 30_000;

/**
 * Knows whether the last write was refused, and finds out when writes are taken again:
 *
 *     taken ─ a write is refused → refused ─ a probe after 1, 2, 4 … 30 s, or any other write, is taken → taken
 *
 * Each passage is logged once.
 */
export class WriteHealth implements WriteGuard {
  readonly #options: WriteHealthOptions;
  #refusal: string | null = null;
  #writtenAt = -Infinity;
  #probing: Promise<void> | null = null;
  #probeDelayMs = MIN_PROBE_DELAY_MS;
  #stopTimer: () => void = () => {};
  #isClosed = false;
  #free: { readonly bytes: number | null; readonly at: number } = { bytes: null, at: -Infinity };
  #wasLow = false;

  constructor(options: WriteHealthOptions) {
    this.#options = options;
  }

  get failure(): string | null {
    return this.#refusal ?? this.#shortage();
  }

  check(): void | Promise<void> {
    const { failure } = this;
    if (failure !== null) throw storageUnavailable();
    const age = this.#options.clock.monotonicMs() - this.#writtenAt;
    if (age < TRUSTED_MS) return;
    return this.#probeOnce().then(() => {
      if (this.#refusal !== null) throw storageUnavailable();
    });
  }

  /** To be called when the database has taken a write. */
  noteSuccess(): void {
    this.#writtenAt = this.#options.clock.monotonicMs();
    if (this.#refusal === null) return;
    this.#refusal = null;
    this.#probeDelayMs = MIN_PROBE_DELAY_MS;
    this.#stopTimer();
    this.#options.log.warn("store_writable", { reason: "the store takes writes again" });
  }

  /** To be called when the database has refused a write. */
  noteFailure(error: unknown): void {
    const isNew = this.#refusal === null;
    this.#refusal = error instanceof Error ? error.message : String(error);
    if (!isNew || this.#isClosed) return;
    this.#options.log.error("store_unwritable", {
      reason: `${this.#refusal}; paid requests get 503 until a write succeeds`,
    });
    this.#probeLater();
  }

  /** Ends the probes. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  #probeLater(): void {
    this.#stopTimer = this.#options.clock.after(this.#probeDelayMs, async () => {
      this.#probeDelayMs = Math.min(this.#probeDelayMs * 2, MAX_PROBE_DELAY_MS);
      await this.#probeOnce();
      if (this.#refusal !== null && !this.#isClosed) this.#probeLater();
    });
  }

  /** Never rejects: what came of it was noted. */
  #probeOnce(): Promise<void> {
    return this.#probing ??= this.#options.probe().then(
      () => this.noteSuccess(),
      (error) => this.noteFailure(error),
    ).finally(() => this.#probing = null);
  }

  #shortage(): string | null {
    const { clock, log, freeBytes = () => null, minFreeBytes = 0 } = this.#options;
    const age = clock.now() - this.#free.at;
    if (age < 0 || age >= FREE_SPACE_TRUSTED_MS) this.#free = { bytes: freeBytes(), at: clock.now() };
    const { bytes } = this.#free;
    const isLow = bytes !== null && bytes < minFreeBytes;
    if (isLow !== this.#wasLow) {
      this.#wasLow = isLow;
      if (isLow) log.error("disk_low", { bytes, reason: `paid requests get 503 below ${minFreeBytes} free bytes` });
      else log.warn("disk_free", { bytes: bytes ?? undefined });
    }
    return isLow ? `${bytes} bytes of disk are free, expected at least ${minFreeBytes}` : null;
  }
}

/** For stores that always take writes, such as those in memory. */
export const ALWAYS_WRITABLE: WriteGuard = { failure: null, check() {} };

const RETRY_AFTER_SECONDS = 10;
/** Names of system errors by which a disk takes no writes. */
const DISK_CODES = /^(ENOSPC|EROFS|EDQUOT|EIO|EFBIG)$/;

/** What callers get when the gateway cannot write. */
export function storageUnavailable(cause?: unknown): GatewayError {
  return new GatewayError(
    "storage_unavailable",
    "The gateway cannot write to its storage, so nothing was done. Send the request again later",
    { retryAfterSeconds: RETRY_AFTER_SECONDS, cause },
  );
}

/** Whether a failure of the system means that the disk takes no writes. */
export function isDiskFailure(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && DISK_CODES.test(String(thrown.code));
}
