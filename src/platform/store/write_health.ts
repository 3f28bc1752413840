import type { Clock } from "../lib/basics/clock.ts";
import { GatewayError } from "../lib/basics/gateway_error.ts";
import { holdState } from "../lib/basics/held.ts";
import type { Log } from "../lib/basics/log.ts";
import type { MaybePromise } from "../lib/basics/maybe_promise.ts";
import { StoreReadError, StoreWriteError } from "./store_errors.ts";

/** Tells whether a store takes writes, and refuses new paid work while it does not. */
export interface WriteGuard {
  /** Why the store takes no writes; null if it does or nothing else is known. */
  readonly failure: string | null;
  /**
   * Passes if the store takes writes. If there was no write for some seconds, it tries a small one, so that not even
   * the first call after a failure is accepted and lost.
   *
   * @throws {GatewayError} `storage_unavailable` with `Retry-After`, thrown or as a rejection.
   */
  check(): MaybePromise<void>;
}

/** The dependencies and settings of {@linkcode WriteHealth}. */
export interface WriteHealthOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Writes a small value durably; rejects if the database refuses it. */
  readonly probe: () => Promise<unknown>;
  /** Free bytes on the disks of the store and the files; null if unknown. Default: unknown. */
  readonly freeBytes?: () => number | null;
  /** Paid work is refused below this. Default 0. */
  readonly minFreeBytes?: number;
  /** Whether the path of the database still has the file that was opened. Default: it has. */
  readonly isInPlace?: () => boolean;
}

const TRUSTED_MS = 10_000;
const DISK_TRUSTED_MS = 250;
const MIN_PROBE_DELAY_MS = 1_000;
const MAX_PROBE_DELAY_MS = 30_000;

/**
 * Tracks whether the last write failed, and probes until writes succeed again. It looks at the disk, too.
 *
 *     writable ─ a write fails → unwritable ─ a probe after 1, 2, 4 … 30 s, or any other write, succeeds → writable
 *
 * Each transition is logged once.
 */
export class WriteHealth implements WriteGuard {
  readonly #options: WriteHealthOptions;
  #writeError: string | null = null;
  #writtenAt = -Infinity;
  #probing: Promise<void> | null = null;
  #probeDelayMs = MIN_PROBE_DELAY_MS;
  #stopTimer: () => void = () => {};
  #isClosed = false;
  #disk: DiskState = { freeBytes: null, isInPlace: true, at: -Infinity };
  #wasLow = false;
  #wasInPlace = true;

  constructor(options: WriteHealthOptions) {
    this.#options = options;
  }

  get failure(): string | null {
    return this.#writeError ?? this.#diskFailure();
  }

  check(): MaybePromise<void> {
    const { failure } = this;
    if (failure !== null) throw storageUnavailable();
    const age = this.#options.clock.monotonicMs() - this.#writtenAt;
    if (age < TRUSTED_MS) return;
    return this.#probeOnce().then(() => {
      if (this.#writeError !== null) throw storageUnavailable();
    });
  }

  /** Must be called after each write that succeeded. */
  noteSuccess(): void {
    this.#writtenAt = this.#options.clock.monotonicMs();
    if (this.#writeError === null) return;
    this.#writeError = null;
    this.#probeDelayMs = MIN_PROBE_DELAY_MS;
    this.#stopTimer();
    this.#options.log.warn("store_writable", { reason: "the store takes writes again" });
  }

  /** Tries a write at once if the last one failed, as there is a sign that the store is back. Never rejects. */
  async recheck(): Promise<void> {
    if (this.#writeError !== null && !this.#isClosed) await this.#probeOnce();
  }

  /** Must be called after each write that failed. */
  noteFailure(error: unknown): void {
    const isNew = this.#writeError === null;
    this.#writeError = error instanceof Error ? error.message : String(error);
    if (!isNew || this.#isClosed) return;
    this.#options.log.error("store_unwritable", {
      reason: `${this.#writeError}; paid requests get 503 until a write succeeds`,
    });
    this.#probeLater();
  }

  /** Stops the probes. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  #probeLater(): void {
    this.#stopTimer = this.#options.clock.after(
      this.#probeDelayMs,
      () => holdState(this.#probeAgain(), "the check of writes"),
    );
  }

  async #probeAgain(): Promise<void> {
    this.#probeDelayMs = Math.min(this.#probeDelayMs * 2, MAX_PROBE_DELAY_MS);
    await this.#probeOnce();
    if (this.#writeError !== null && !this.#isClosed) this.#probeLater();
  }

  /** Never rejects; the result is recorded. */
  #probeOnce(): Promise<void> {
    return this.#probing ??= this.#options.probe().then(
      () => this.noteSuccess(),
      (error) => this.noteFailure(error),
    ).finally(() => this.#probing = null);
  }

  #diskFailure(): string | null {
    const { clock, freeBytes, isInPlace } = this.#options;
    const age = clock.now() - this.#disk.at;
    if (age < 0 || age >= DISK_TRUSTED_MS) {
      this.#disk = { freeBytes: freeBytes?.() ?? null, isInPlace: isInPlace?.() ?? true, at: clock.now() };
      this.#logChanges(this.#disk);
    }
    if (!this.#wasInPlace) return MOVED;
    const { minFreeBytes = 0 } = this.#options;
    return this.#wasLow ? `${this.#disk.freeBytes} bytes of disk are free, expected at least ${minFreeBytes}` : null;
  }

  #logChanges({ freeBytes, isInPlace }: DiskState): void {
    const { log, minFreeBytes = 0 } = this.#options;
    if (isInPlace !== this.#wasInPlace) {
      this.#wasInPlace = isInPlace;
      if (isInPlace) log.warn("store_in_place", { reason: "the file of the store is at its path again" });
      else log.error("store_moved", { reason: `${MOVED}; paid requests get 503 until it is back` });
    }
    const isLow = freeBytes !== null && freeBytes < minFreeBytes;
    if (isLow === this.#wasLow) return;
    this.#wasLow = isLow;
    if (isLow) {
      log.error("disk_low", { bytes: freeBytes, reason: `paid requests get 503 below ${minFreeBytes} free bytes` });
    } else log.warn("disk_free", { bytes: freeBytes ?? undefined });
  }
}

/** The disk as it was looked at last. */
interface DiskState {
  /** Null if unknown. */
  readonly freeBytes: number | null;
  readonly isInPlace: boolean;
  readonly at: number;
}

/** A file without a name takes writes, and is gone when it is closed. */
const MOVED = "the file of the store was removed, moved or replaced, so that charges would be lost";

const RETRY_AFTER_SECONDS = 10;
/** System errors that mean that a disk takes no writes. */
const DISK_CODES = /^(ENOSPC|EROFS|EDQUOT|EIO|EFBIG)$/;

/** Whether a thrown value means that the store or its disk did not take a write or make a read. */
export function isStoreFailure(thrown: unknown): boolean {
  return thrown instanceof StoreWriteError || thrown instanceof StoreReadError || isDiskFailure(thrown);
}

/** The error for callers while the gateway cannot use its store. */
export function storageUnavailable(cause?: unknown): GatewayError {
  // What the errors of the store say has no stored values.
  const reason = cause instanceof StoreWriteError || cause instanceof StoreReadError ? cause.message : null;
  return new GatewayError(
    "storage_unavailable",
    "The gateway cannot use its storage, so nothing was done. Send the request again later",
    { retryAfterSeconds: RETRY_AFTER_SECONDS, cause, ...reason !== null && { loggedMessage: reason } },
  );
}

/** Whether a system error means that the disk takes no writes. */
export function isDiskFailure(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && DISK_CODES.test(String(thrown.code));
}
