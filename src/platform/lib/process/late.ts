import { hasFreeDescriptors } from "./descriptors.ts";
import { GatewayError } from "../basics/gateway_error.ts";

/**
 * Code is loaded, and a thread starts, only if so many descriptors are free. A module takes one for each file that it
 * imports.
 */
export const MIN_FREE_DESCRIPTORS = 64;

/** How soon callers retry what needs descriptors. */
export const DESCRIPTOR_RETRY_SECONDS = 5;

/**
 * What is loaded when it is first used: `new Late(() => import("./images.ts"))`, or a value made with such code.
 *
 * Without a free descriptor `import()` fails, and with `--unstable-lazy-dynamic-imports` Deno repeats that failure for
 * the same module until the process ends. So code is loaded only if enough descriptors are free.
 */
export class Late<T> {
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | null = null;
  #loaded: T | null = null;

  /**
   * Loads nothing yet.
   *
   * @param load Called at the first use, and again after a failure.
   */
  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** Null until it is loaded. */
  get loaded(): T | null {
    return this.#loaded;
  }

  /** What is being loaded, or is loaded; null if no use has begun. */
  get loading(): Promise<T> | null {
    return this.#loading;
  }

  /**
   * Loads it, or returns what is loaded. All uses share it.
   *
   * @throws {GatewayError} `overloaded` if too few descriptors are free.
   */
  readonly load = (): Promise<T> =>
    this.#loading ??= this.#start().catch((error) => {
      this.#loading = null;
      throw error;
    });

  async #start(): Promise<T> {
    if (!hasFreeDescriptors(MIN_FREE_DESCRIPTORS)) throw new CodeUnavailable();
    return this.#loaded = await this.#load();
  }
}

/** Code that cannot be loaded now. */
class CodeUnavailable extends GatewayError {
  constructor() {
    super("overloaded", "The gateway has too few free file descriptors for this request. Retry in a few seconds", {
      retryAfterSeconds: DESCRIPTOR_RETRY_SECONDS,
    });
  }
}
