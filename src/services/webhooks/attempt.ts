import type { Clock } from "../../platform/lib/basics/clock.ts";
import { EgressError } from "../../platform/net/egress_error.ts";
import type { PostResponse } from "../../platform/net/pinned_post.ts";
import { tlsFailureCode } from "../../platform/net/trust.ts";
import { readRetryAfterMs } from "./backoff.ts";
import type { AttemptEnd, AttemptFailure, Delivery, DeliveryAttempt } from "./delivery.ts";
import { idempotencyKeyOf } from "./envelope.ts";
import { signedHeaders } from "./signature.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";

/** Sends a guarded POST with an event to the address only; redirects are not followed. @throws {EgressError} */
export type PostEvent = (
  url: string,
  request: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
    readonly signal: AbortSignal;
  },
) => Promise<PostResponse>;

/** Dependencies and data of one attempt. */
export interface AttemptParts {
  /** The clock of the store, by which attempts are due. */
  readonly now: () => StoreTime;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly post: PostEvent;
  readonly delivery: Delivery;
  readonly body: Uint8Array;
  /** Signing secrets, the current one first. */
  readonly secrets: readonly string[];
  /** Aborted when the attempt must no longer count. */
  readonly signal: AbortSignal;
}

/**
 * Returns the headers of an attempt sent at an instant. Source: docs/api/webhooks.md#headers.
 *
 * @param sentAt Unix milliseconds.
 */
export function headersOf(
  { id, status }: Pick<Delivery, "id" | "status">,
  body: Uint8Array,
  secrets: readonly string[],
  sentAt: number,
): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": "Switchyard-Webhooks",
    "accept-encoding": "identity",
    ...signedHeaders({ idempotencyKey: idempotencyKeyOf(id, status), body, sentAt }, secrets),
  };
}

/**
 * Makes one delivery attempt. Every response or failure of the receiver is a completed attempt.
 *
 * @throws {EgressError} Only with the code `aborted`: then no attempt was made.
 */
export async function makeAttempt(parts: AttemptParts): Promise<AttemptEnd> {
  const { now, clock, post, delivery, body, secrets, signal } = parts;
  const startedAt = now();
  const beganMs = clock.monotonicMs();
  const outcome = await outcomeOf(() =>
    post(delivery.url, { headers: headersOf(delivery, body, secrets, startedAt), body, signal })
  );
  const endedAt = now();
  return {
    attempt: {
      number: delivery.attempts + 1,
      startedAt,
      durationMs: Math.round(clock.monotonicMs() - beganMs),
      status: outcome.answer?.status ?? null,
      failure: outcome.failure,
      reason: outcome.reason,
      answerBytes: outcome.answer?.bytes ?? 0,
      ...startOf(outcome.answer),
    },
    endedAt,
    retryAfterMs: readRetryAfterMs(outcome.answer?.header("retry-after") ?? null, endedAt),
  };
}

/** Of an answer that refuses an event or redirects it: enough for the message of a receiver. */
const REFUSAL_BYTES = 1_000;
/** Of an answer that acknowledges an event. Most deliveries have one, and it tells little. */
const ACKNOWLEDGEMENT_BYTES = 200;

/** How many bytes of an answer with a status an attempt keeps, for operators. */
export function keptBytesOf(status: number): number {
  return failureOf(status) === null ? ACKNOWLEDGEMENT_BYTES : REFUSAL_BYTES;
}

/** Texts of receivers are shown, so characters that control a terminal are removed. */
function startOf(answer: PostResponse | null): Pick<DeliveryAttempt, "answerStart"> {
  // A character that is cut at the end is left out.
  const text = new TextDecoder().decode(answer?.start ?? new Uint8Array(), { stream: true });
  const shown = text.replace(/[^\P{C}\n\t]/gu, "").trim();
  return shown === "" ? {} : { answerStart: shown };
}

interface Outcome extends Pick<DeliveryAttempt, "failure" | "reason"> {
  readonly answer: PostResponse | null;
}

async function outcomeOf(send: () => Promise<PostResponse>): Promise<Outcome> {
  try {
    const answer = await send();
    return { answer, failure: failureOf(answer.status), reason: null };
  } catch (error) {
    if (!(error instanceof EgressError) || error.kind === "aborted") throw error;
    return { answer: null, ...failureFieldsOf(error) };
  }
}

function failureOf(status: number): AttemptFailure | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirect" : "status";
}

/**
 * Returns the failure and reason to record. The reason holds the rule that blocked an address, never the address behind
 * a name.
 */
function failureFieldsOf(error: EgressError): Pick<DeliveryAttempt, "failure" | "reason"> {
  switch (error.kind) {
    case "refused":
      return { failure: "blocked", reason: error.details.rule ?? null };
    case "tls":
      return { failure: "tls", reason: tlsFailureCode(error.details.cause) };
    case "unresolved":
    case "connect":
    case "timeout":
      return { failure: error.kind, reason: null };
    default:
      return { failure: "broken", reason: null };
  }
}
