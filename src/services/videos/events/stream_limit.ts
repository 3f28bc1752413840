import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";

const RETRY_AFTER_SECONDS = 5;

/** Limits the concurrent event streams of each credential. */
export class StreamLimit {
  readonly #open = new Map<string, number>();

  /** @param limit Maximum per credential; applies to new streams. */
  constructor(public limit: number) {}

  /**
   * Counts a new stream of a credential.
   *
   * @returns A function to call once, when the stream ends.
   * @throws {GatewayError} `rate_limited` if the credential has the maximum number of streams.
   */
  take(keyId: string): () => void {
    const open = this.#open.get(keyId) ?? 0;
    if (open >= this.limit) {
      const message = `Cannot open another event stream: this API key has ${open} open, which is the maximum`;
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
