import type { Clock } from "../../platform/lib/basics/clock.ts";
import { descriptorLimit, DescriptorUse } from "../../platform/lib/process/descriptors.ts";
import type { Log } from "../../platform/lib/basics/log.ts";

/** Options of {@linkcode DescriptorPressure}. */
export interface DescriptorPressureOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called when descriptors become scarce, and when they are no more. */
  readonly onTight: (isTight: boolean) => void;
  /** Closes connections without a request. Returns whether that is possible. */
  readonly shed: () => boolean;
  /** Measures the descriptors of the process; replaced in tests. Default: read when it starts. */
  readonly use?: Pick<DescriptorUse, "measure">;
}

const LOOK_MS = 1_000;
/** From this share of the limit on, replies close their connections. */
const TIGHT = 0.8;
/** From this share of the limit on, connections without a request are closed, and no more often than this. */
const FULL = 0.9;
const SHED_EVERY_MS = 10_000;

/**
 * Keeps descriptors free. Idle connections need no key, and the server of the platform neither shows a connection
 * before its first request is complete nor limits their number. Without a free descriptor, no vendor can be called and
 * no thread can start. See docs/decisions/0159-descriptors.md.
 */
export class DescriptorPressure {
  readonly #options: DescriptorPressureOptions;
  #isTight = false;
  #shedAt = -Infinity;
  #usedBefore: number | null = null;
  #isStopped = false;
  #cancel: () => void = () => {};

  constructor(options: DescriptorPressureOptions) {
    this.#options = options;
  }

  /** Measures once a second from now on. */
  async start(): Promise<void> {
    const { use = new DescriptorUse(await descriptorLimit()) } = this.#options;
    if (!this.#isStopped) this.#lookLater(use);
  }

  /** Ends it. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #lookLater(use: Pick<DescriptorUse, "measure">): void {
    this.#cancel = this.#options.clock.after(LOOK_MS, () => {
      this.#look(use);
      this.#lookLater(use);
    });
  }

  #look(use: Pick<DescriptorUse, "measure">): void {
    const { clock, log, onTight, shed } = this.#options;
    const { used, share } = use.measure();
    if (this.#usedBefore !== null) {
      const count = Math.max(0, this.#usedBefore - used);
      log.warn("connections_shed", { count, reason: "the process has almost no free file descriptors" });
      this.#usedBefore = null;
    }
    const isTight = share >= TIGHT;
    if (isTight !== this.#isTight) onTight(this.#isTight = isTight);
    const now = clock.monotonicMs();
    if (share < FULL || now - this.#shedAt < SHED_EVERY_MS || !shed()) return;
    this.#shedAt = now;
    this.#usedBefore = used;
  }
}
