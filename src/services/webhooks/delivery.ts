import { nextDelayMs } from "./backoff.ts";
import type { EventStatus } from "./envelope.ts";
import { laterBy, type StoreTime } from "../../platform/store/store_time.ts";

/**
 * The delivery of one event to a task's callback address, repeated until it is acknowledged. A task has at most one
 * delivery, which has the task's id. Its body never changes. A notification has one for each of its receivers, with an
 * separate id; it begins with the commit that records its cause.
 *
 *     the task's terminal commit
 *        │
 *        ▼      any 2xx
 *     pending ─────────────────────────────→ delivered ─┐
 *      │ ▲ ▲  └─ the last of 11 attempts failed ─→ exhausted │
 *      │ │ │                                      │     │
 *      │ │ └──────────── redelivered: a new round ─┴─────┘
 *      └─┘ an attempt failed, the round has retries left: due again after the delay of that retry
 *
 * A round is one attempt and up to ten retries (docs/api/webhooks.md#retries). The first round starts when the task
 * ends. A redelivery starts another round with the same event and the same limits.
 *
 * While a delivery is pending, one job of the kind `webhook` with its id as `ref` is open; otherwise none is. Both
 * change in one commit, together with the record of each attempt. An attempt that was not recorded because the process
 * died is therefore made again.
 */
export interface Delivery {
  /** The task's id, or that of the notification. */
  readonly id: string;
  /** Whose secret signs it: an account, or {@linkcode OPERATOR}. */
  readonly account: string;
  /** The account that a notification is about; absent for tasks, and for notifications about none. */
  readonly subject?: string;
  readonly status: EventStatus;
  readonly url: string;
  /** Time of the event in Unix milliseconds, as every `…At` here. */
  readonly createdAt: StoreTime;
  readonly state: DeliveryState;
  /** Number of completed attempts in all rounds. */
  readonly attempts: number;
  /** Number of attempts completed before the current round. */
  readonly attemptsBefore: number;
  /**
   * When the next attempt is due; null unless pending. The stored value follows the schedule. If the attempt was
   * postponed, the job's own due time is later; API responses show that one.
   */
  readonly nextAttemptAt: StoreTime | null;
  /** When it was delivered or exhausted; null while pending. */
  readonly settledAt: number | null;
  readonly body: StoredBody;
}

/** Where the event is stored: in the record if it is short, else beside it in this many pieces. */
export type StoredBody =
  | { readonly bytes: number; readonly whole: Uint8Array<ArrayBuffer> }
  | { readonly bytes: number; readonly pieces: number };

/** See {@linkcode Delivery}. */
export type DeliveryState = "pending" | "delivered" | "exhausted";

/** All states; the allowed values of a `state` filter. */
export const DELIVERY_STATES: readonly [DeliveryState, ...DeliveryState[]] = ["pending", "delivered", "exhausted"];

/** One completed POST. */
export interface DeliveryAttempt {
  /** From 1, counted across all rounds. */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Status of the response; null if there was none. */
  readonly status: number | null;
  /** Null if the event was acknowledged. */
  readonly failure: AttemptFailure | null;
  /** Detail of the failure as a short code; null if there is none. */
  readonly reason: string | null;
  /** Number of body bytes received. */
  readonly answerBytes: number;
  /** The start of the body of the response, for operators; absent if it was empty, or not kept. */
  readonly answerStart?: string;
}

/**
 * Why an attempt failed:
 * - `status`: the response status was not 2xx.
 * - `redirect`: the response status was 3xx; redirects are not followed.
 * - `timeout`: no response in time.
 * - `blocked`: the egress policy blocks the address; `reason` is the rule.
 * - `unresolved`: the name has no address, or no resolver responded.
 * - `connect`: the connection was not accepted.
 * - `tls`: the receiver's certificate or handshake was invalid; `reason` is the cause.
 * - `broken`: the connection broke before a response, or the response was not HTTP.
 */
export type AttemptFailure =
  | "status"
  | "redirect"
  | "timeout"
  | "blocked"
  | "unresolved"
  | "connect"
  | "tls"
  | "broken";

/** What a new delivery is about. */
export type DeliveredEvent = Pick<Delivery, "id" | "account" | "status" | "url" | "createdAt" | "subject">;

/** Returns the delivery of a new event; its first attempt is due immediately. */
export function newDelivery(
  { id, account, status, url, createdAt, subject }: DeliveredEvent,
): Omit<Delivery, "body"> {
  return {
    id,
    account,
    ...subject !== undefined && { subject },
    status,
    url,
    createdAt,
    state: "pending",
    attempts: 0,
    attemptsBefore: 0,
    nextAttemptAt: createdAt,
    settledAt: null,
  };
}

/** The outcome of an attempt that determines the next one. */
export interface AttemptEnd {
  readonly attempt: DeliveryAttempt;
  readonly endedAt: StoreTime;
  /** Delay requested by `Retry-After`; null if there was none. */
  readonly retryAfterMs: number | null;
}

/**
 * Returns the state of a pending delivery after an attempt.
 *
 * @param random Returns a uniform random number in [0, 1).
 */
export function afterAttempt(
  delivery: Delivery,
  { attempt, endedAt, retryAfterMs }: AttemptEnd,
  random: () => number,
): Delivery {
  const attempts = attempt.number;
  const settled = { ...delivery, attempts, nextAttemptAt: null, settledAt: endedAt };
  if (attempt.failure === null) return { ...settled, state: "delivered" };
  const delayMs = nextDelayMs(attempts - delivery.attemptsBefore, retryAfterMs, random);
  return delayMs === null
    ? { ...settled, state: "exhausted" }
    : { ...delivery, attempts, nextAttemptAt: laterBy(endedAt, delayMs) };
}

/** Returns a delivered or exhausted delivery at the start of a new round. */
export function startNewRound(delivery: Delivery, now: StoreTime): Delivery {
  const { attempts } = delivery;
  return { ...delivery, state: "pending", attemptsBefore: attempts, nextAttemptAt: now, settledAt: null };
}
