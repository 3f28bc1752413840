import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { FairPermits } from "../../platform/lib/collections/permits.ts";

/** The caller that reads the requests of its account. */
export interface LogReader {
  readonly accountId: string;
  /** The public id of the key. */
  readonly keyId: string;
  /** Fires when the caller disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Questions of callers that are under way at once. It is a small part of all questions, so that those of operators are
 * never refused or slowed down much: a search shares the log's thread with the others.
 */
export const MAX_CALLER_QUESTIONS = 4;
/** Questions of one key that wait; further ones are refused. A search takes at most 200 ms. */
export const MAX_WAITING_OF_KEY = 10;

const RETRY_AFTER_SECONDS = 1;

/**
 * The questions of callers to the log of requests: one at a time for each key. Further ones wait in order, as the
 * requests of a page in a browser do. Accounts take turns, so that one with many keys does not delay the others.
 */
export class CallerQuestions {
  readonly #ofKeys = new FairPermits({ each: 1 });
  readonly #ofAll = new FairPermits({ inAll: MAX_CALLER_QUESTIONS });

  /**
   * Asks a question when it is the caller's turn.
   *
   * @throws {GatewayError} `rate_limited` if too many of the key wait; what `ask` throws.
   */
  async ask<T>({ accountId, keyId, signal }: LogReader, ask: () => Promise<T>): Promise<T> {
    if (this.#ofKeys.waitingOf(keyId) >= MAX_WAITING_OF_KEY) throw tooMany();
    const unlessLeft = async () => {
      if (signal.aborted) throw new GatewayError("overloaded", "The caller has disconnected");
      return await ask();
    };
    return await this.#ofKeys.run(keyId, () => this.#ofAll.run(accountId, unlessLeft));
  }
}

function tooMany(): GatewayError {
  const message = "Too many queries of requests by this key are under way: expected one at a time; " +
    `retry after ${RETRY_AFTER_SECONDS} s`;
  return new GatewayError("rate_limited", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
