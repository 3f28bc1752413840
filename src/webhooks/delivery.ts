import { nextDelayMs } from "./backoff.ts";
import type { EndedTask, TerminalStatus } from "../calls/ended_task.ts";

/**
 * What is owed to a task's callback address: one event, told until it is acknowledged. There is at most one delivery
 * for a task, under the task's id; its body never changes.
 *
 *     the task's terminal commit
 *        │
 *        ▼      any 2xx
 *     pending ─────────────────────────────→ delivered ─┐
 *      │ ▲ ▲  └─ the last of 11 attempts failed ─→ exhausted │
 *      │ │ │                                      │     │
 *      │ │ └──────────── redelivered: a new round ─┴─────┘
 *      └─┘ an attempt failed, retries of the round are left: due again after the delay of that retry
 *
 * A round is one attempt and up to ten retries (docs/api/webhooks.md#retries). The first begins with the task's end;
 * somebody who asks for the event again begins another, with everything as in the first. While a delivery is pending
 * one job of the kind `webhook` with its id as `ref` is open, else none: the two change in one commit. So does each
 * attempt's record, which makes an attempt whose end was not recorded, because the process died, one that never was: it
 * is made again.
 */
export interface Delivery {
  /** The task's. */
  readonly id: string;
  readonly account: string;
  readonly status: TerminalStatus;
  readonly url: string;
  /** Unix milliseconds, as every `…At` here: the event's time. */
  readonly createdAt: number;
  readonly state: DeliveryState;
  /** How many attempts have ended, in all rounds. */
  readonly attempts: number;
  /** How many of them had before the present round. */
  readonly attemptsBefore: number;
  /**
   * When the next attempt is due; null unless pending. As stored: by the schedule. The job's own due time is later when
   * the attempt was postponed, and is what is shown.
   */
  readonly nextAttemptAt: number | null;
  /** When it was delivered, or given up; null while pending. */
  readonly settledAt: number | null;
  readonly body: StoredBody;
}

/** Where the event stands: here when it is short, else beside the record in so many pieces. */
export type StoredBody =
  | { readonly bytes: number; readonly whole: Uint8Array<ArrayBuffer> }
  | { readonly bytes: number; readonly pieces: number };

/** See {@linkcode Delivery}. */
export type DeliveryState = "pending" | "delivered" | "exhausted";

/** Every state, for those who ask for one. */
export const DELIVERY_STATES: readonly [DeliveryState, ...DeliveryState[]] = ["pending", "delivered", "exhausted"];

/** One POST, once it has ended. */
export interface Attempt {
  /** From 1, through all rounds. */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Of the answer; null when there was none. */
  readonly status: number | null;
  /** Null when the event was acknowledged. */
  readonly failure: AttemptFailure | null;
  /** More about the failure, in one word; null when there is no more to say. */
  readonly reason: string | null;
  /** How much of the answer's body came; none of it is kept. */
  readonly answerBytes: number;
}

/**
 * Why an attempt failed:
 * - `status`: the answer was not 2xx.
 * - `redirect`: it was 3xx; none is followed.
 * - `timeout`: no answer in time.
 * - `blocked`: the address may not be called; `reason` is the rule.
 * - `unresolved`: the name has no address, or no resolver answered.
 * - `connect`: nobody accepted the connection.
 * - `tls`: the receiver could not prove who it is; `reason` says how.
 * - `broken`: the connection broke before an answer, or what came was no HTTP.
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

/** The delivery that the end of a task owes, its first attempt due at once. */
export function newDelivery({ taskId: id, account, status, endedAt }: EndedTask, url: string): Omit<Delivery, "body"> {
  return {
    id,
    account,
    status,
    url,
    createdAt: endedAt,
    state: "pending",
    attempts: 0,
    attemptsBefore: 0,
    nextAttemptAt: endedAt,
    settledAt: null,
  };
}

/** The end of an attempt, as far as the next one depends on it. */
export interface AttemptEnd {
  readonly attempt: Attempt;
  /** Unix milliseconds. */
  readonly endedAt: number;
  /** What the receiver asked for; null when it did not. */
  readonly retryAfterMs: number | null;
}

/**
 * What an attempt makes of a pending delivery.
 *
 * @param random Uniform in [0, 1).
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
    : { ...delivery, attempts, nextAttemptAt: endedAt + delayMs };
}

/** A settled delivery at the start of a new round. */
export function redelivered(delivery: Delivery, now: number): Delivery {
  const { attempts } = delivery;
  return { ...delivery, state: "pending", attemptsBefore: attempts, nextAttemptAt: now, settledAt: null };
}
