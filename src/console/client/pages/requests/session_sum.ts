import type { LoggedRequest } from "./logged_request.ts";

/** The sum of the requests of a session. */
export interface SessionSum {
  readonly failed: number;
  /** Tokens. */
  readonly input: number;
  readonly output: number;
  /** USD. */
  readonly cost: number;
  /** From the arrival of the first request to the end of the last one. */
  readonly spanMs: number;
}

const MS = 1_000;

/** Sums up requests, of which there is at least one. */
export function sumOf(requests: readonly LoggedRequest[]): SessionSum {
  const sum = (valueOf: (request: LoggedRequest) => number) =>
    requests.reduce((total, request) => total + valueOf(request), 0);
  const starts = requests.map(({ received_at }) => received_at * MS);
  const ends = requests.map(({ received_at, duration_ms }) => received_at * MS + duration_ms);
  const latest = ends.reduce((one, other) => Math.max(one, other), -Infinity);
  const earliest = starts.reduce((one, other) => Math.min(one, other), Infinity);
  return {
    failed: requests.filter(({ status }) => status >= 400).length,
    input: sum(({ usage }) => usage?.input_tokens ?? 0),
    output: sum(({ usage }) => usage?.output_tokens ?? 0),
    cost: sum(({ cost }) => Number(cost ?? 0)),
    spanMs: latest - earliest,
  };
}
