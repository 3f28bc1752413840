import { TEXTS } from "../../texts.ts";
import type { LoggedRequest } from "./logged_request.ts";

/** A phase of a request. */
export interface Phase {
  readonly kind: "admission" | "attempt" | "failed" | "response";
  readonly name: string;
  /** From the arrival of the request. */
  readonly startMs: number;
  readonly lengthMs: number;
  /** Why it failed; null if it did not. */
  readonly note: string | null;
}

/** The phases of a request: until its first attempt, each attempt, and from the first byte to the end. */
export function timelineOf(
  { received_at, duration_ms, first_byte_ms, attempts }: Pick<
    LoggedRequest,
    "received_at" | "duration_ms" | "first_byte_ms" | "attempts"
  >,
): Phase[] {
  const within = (ms: number) => Math.min(Math.max(ms, 0), duration_ms);
  const startOf = (at: number) => within(Math.round((at - received_at) * 1_000));
  const tries = attempts.map((attempt, index): Phase => {
    const startMs = startOf(attempt.started_at);
    return {
      kind: attempt.code === null ? "attempt" : "failed",
      name: TEXTS.requests.attempt(index + 1, attempt.provider),
      startMs,
      lengthMs: within(startMs + (attempt.duration_ms ?? duration_ms)) - startMs,
      note: attempt.code === null ? null : `${attempt.code}: ${attempt.message ?? ""}`,
    };
  });
  const firstByteMs = within(first_byte_ms ?? duration_ms);
  return [
    {
      kind: "admission",
      name: TEXTS.requests.admission,
      startMs: 0,
      lengthMs: tries[0]?.startMs ?? firstByteMs,
      note: null,
    },
    ...tries,
    {
      kind: "response",
      name: TEXTS.requests.response,
      startMs: firstByteMs,
      lengthMs: duration_ms - firstByteMs,
      note: null,
    },
  ];
}
