import type { RequestLogConfig } from "../../observers/request_log/request_log_section.ts";

/** The most bytes of each captured body; null if no bodies are kept. */
export function capturedBodyBytes({ isEnabled, capture }: RequestLogConfig): number | null {
  return isEnabled ? capture?.bodyBytes ?? null : null;
}

/** Why no bodies are kept, as a clause for people; null if those of keys and accounts with `capture` are. */
export function noBodiesReasonOf({ isEnabled, capture }: RequestLogConfig): string | null {
  if (capture === null) return '"request_log.capture" is not set';
  return isEnabled ? null : '"request_log.enabled" is false';
}
