import type { Log } from "../lib/basics/log.ts";

/** The room for files. `nearly_full`: less than a tenth is left; `full`: less than a hundredth. */
export type FilesState = "ok" | "nearly_full" | "full";

/** The space used by files. */
export interface FilesUsage {
  readonly bytes: number;
  /** Null without a quota. */
  readonly quotaBytes: number | null;
  readonly state: FilesState;
}

/** A file was refused because it exceeds the quota or the free space. */
export class FilesFullError extends Error {
  override readonly name = "FilesFullError";

  /** @param bytes The space used already. */
  constructor(readonly bytes: number) {
    super(`no room for files: ${bytes} bytes are taken`);
  }
}

/** The settings of a quota. */
export interface DiskQuotaOptions {
  /** Null for no quota. */
  readonly quotaBytes: number | null;
  /** Free bytes on the disk of the files; null if unknown. Default: unknown. */
  readonly freeBytes?: () => number | null;
  /** Free bytes that files must leave on the disk. Default 0. */
  readonly spareBytes?: number;
  readonly log: Log;
}

/** The most that is written between two checks of the disk. */
const LOOK_EVERY_BYTES = 16_000_000;

/** A state is left at a higher share than it is entered, so that one file does not log two transitions. */
const SHARES = { full: { enter: 1 / 100, leave: 2 / 100 }, nearlyFull: { enter: 1 / 10, leave: 1 / 8 } };

/**
 * Counts the bytes of files and refuses files that exceed the quota or the free space. Each change of the
 * {@linkcode FilesState} is logged: `files_nearly_full` and `files_full` as errors, `files_room` when there is room
 * again.
 */
export class DiskQuota {
  readonly #options: DiskQuotaOptions;
  #bytes = 0;
  #unlooked = Infinity;
  #freeBytes: number | null = null;
  #state: FilesState = "ok";

  constructor(options: DiskQuotaOptions) {
    this.#options = options;
  }

  /** The used space and the current state. */
  get usage(): FilesUsage {
    this.refresh();
    return { bytes: this.#bytes, quotaBytes: this.#options.quotaBytes, state: this.#state };
  }

  /**
   * Passes if there is room for this many bytes.
   *
   * @throws {FilesFullError}
   */
  check(bytes: number): void {
    if (this.#unlooked >= LOOK_EVERY_BYTES) this.refresh();
    if (bytes <= this.#roomBytes()) return;
    this.refresh();
    if (bytes > this.#roomBytes()) throw new FilesFullError(this.#bytes);
  }

  /** Counts bytes that were written, or found at the start. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#unlooked += bytes;
    if (this.#freeBytes !== null) this.#freeBytes -= bytes;
    this.#noteState();
  }

  /** Counts bytes that were removed. */
  subtract(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#freeBytes !== null) this.#freeBytes += bytes;
    this.#noteState();
  }

  /** Reads the free space of the disk, which other programs change. */
  refresh(): void {
    this.#freeBytes = this.#options.freeBytes?.() ?? null;
    this.#unlooked = 0;
    this.#noteState();
  }

  /** Below zero if the disk has less than the minimum; `Infinity` without a limit. */
  #roomBytes(): number {
    const { quotaBytes, spareBytes = 0 } = this.#options;
    const onDisk = this.#freeBytes === null ? Infinity : this.#freeBytes - spareBytes;
    return Math.min(onDisk, quotaBytes === null ? Infinity : quotaBytes - this.#bytes);
  }

  #noteState(): void {
    const room = this.#roomBytes();
    const share = room === Infinity ? 1 : Math.max(room, 0) / Math.max(this.#bytes + room, 1);
    const state = this.#stateAt(share);
    if (state === this.#state) return;
    this.#state = state;
    const bytes = this.#bytes;
    if (state === "ok") return this.#options.log.warn("files_room", { bytes });
    const why = state === "full"
      ? "new results are not copied and are served from their vendors for as long as those keep them"
      : "raise limits.files_quota, lower retention.files or add disk";
    this.#options.log.error(`files_${state}`, { bytes, reason: `${Math.max(room, 0)} bytes are left: ${why}` });
  }

  #stateAt(share: number): FilesState {
    const { full, nearlyFull } = SHARES;
    if (share < (this.#state === "full" ? full.leave : full.enter)) return "full";
    return share < (this.#state === "ok" ? nearlyFull.enter : nearlyFull.leave) ? "nearly_full" : "ok";
  }
}
