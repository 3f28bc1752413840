import { GatewayError } from "../../lib/gateway_error.ts";

const RETRY_AFTER_SECONDS = 5;

/** Bounds how many streams of events one credential reads at once. */
export class StreamLimit {
  readonly #open = new Map<string, number>();

  /** @param limit For each credential. */
  constructor(readonly limit: number) {}

  /**
   * Counts one more stream of a credential.
   *
   * @returns To be called once, when the stream is over.
   * @throws {GatewayError} `rate_limited` when it reads as many as it may.
   */
  take(keyId: string): () => void {
    const open = this.#open.get(keyId) ?? 0;
    if (open >= this.limit) {
      const message = `Cannot open another stream of events: this key has ${open} open, which is its limit`;
      throw new GatewayError("rate_limited", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#open.set(keyId, open + 1);
    return () => {
      const left = this.#open.get(keyId)! - 1;
      if (left > 0) this.#open.set(keyId, left);
      else this.#open.delete(keyId);
    };
  }
}
