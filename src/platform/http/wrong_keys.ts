import { type Clock, sleep } from "../lib/basics/clock.ts";
import { GatewayError } from "../lib/basics/gateway_error.ts";
import { clientNetworkOf } from "../net/address.ts";

/** Wrong keys of a client that are answered at once. */
const FREE_FAILURES = 10;
/** A counted failure is dropped after this time. */
const FAILURE_LIFETIME_MS = 30_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** More failures are not counted, so that a client is answered at once again after at most 15 minutes. */
const MAX_COUNTED = 30;
const MAX_WAITING_PER_CLIENT = 20;
const MAX_WAITING = 2_000;
const MAX_CLIENTS = 10_000;

/** The wrong keys of one client. */
interface Failures {
  /** How many are counted; a fraction while the oldest expires. */
  count: number;
  /** When `count` was computed, in milliseconds of the monotonic clock. */
  at: number;
  /** Answers that are delayed at the moment. */
  waiting: number;
}

/**
 * Delays the answers to wrong keys, the longer the more wrong keys a client has sent. A client is an IPv4 address or an
 * IPv6 network of 64 bits. A right key is never counted, delayed or refused here, so clients behind one address do not
 * affect each other's requests. Source: docs/decisions/0065-the-front-door-and-operators.md.
 */
export class WrongKeys {
  readonly #clients = new Map<string, Failures>();
  #waiting = 0;

  /** @param clock Measures the delays. */
  constructor(readonly clock: Clock) {}

  /**
   * Counts a wrong key and rejects with its error, after the client's delay.
   *
   * @param address The client's address.
   * @param error The error to answer with.
   * @throws {GatewayError} `error`, or `rate_limited` if too many answers to this client are delayed already.
   */
  async refuse(address: string, error: GatewayError): Promise<never> {
    const failures = this.#count(clientNetworkOf(address));
    const delayMs = delayOf(failures.count);
    if (delayMs === 0 || this.#waiting >= MAX_WAITING) throw error;
    if (failures.waiting >= MAX_WAITING_PER_CLIENT) {
      throw new GatewayError("rate_limited", "Cannot accept the key: too many invalid keys from this address", {
        retryAfterSeconds: Math.ceil(MAX_DELAY_MS / 1_000),
      });
    }
    failures.waiting++;
    this.#waiting++;
    await sleep(this.clock, delayMs);
    failures.waiting--;
    this.#waiting--;
    throw error;
  }

  /** Counts a wrong key without a delay, for a request that is answered without a key as well. */
  note(address: string): void {
    this.#count(clientNetworkOf(address));
  }

  /** Whether a client has used up the wrong keys that are answered at once. */
  isSlowed(address: string): boolean {
    const failures = this.#clients.get(clientNetworkOf(address));
    return failures !== undefined && this.#leftOf(failures) >= FREE_FAILURES;
  }

  #leftOf({ count, at }: Failures): number {
    return Math.max(0, count - (this.clock.monotonicMs() - at) / FAILURE_LIFETIME_MS);
  }

  #count(client: string): Failures {
    const now = this.clock.monotonicMs();
    const failures = this.#clients.get(client) ?? { count: 0, at: now, waiting: 0 };
    failures.count = Math.min(this.#leftOf(failures) + 1, MAX_COUNTED);
    failures.at = now;
    this.#clients.delete(client);
    if (this.#clients.size >= MAX_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
    this.#clients.set(client, failures);
    return failures;
  }
}

/** 100 ms after the free failures, doubled by each further one, at most 5 s. */
function delayOf(count: number): number {
  const excess = Math.ceil(count) - FREE_FAILURES;
  return excess <= 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (excess - 1), MAX_DELAY_MS);
}
