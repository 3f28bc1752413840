/** A status that a video task never leaves. Source: docs/api/videos.md#states. */
export type TerminalStatus = typeof TERMINAL_STATUSES[number];

/** Every {@linkcode TerminalStatus}. */
export const TERMINAL_STATUSES = ["completed", "failed", "cancelled", "expired"] as const;

/** A video task that ends in the commit being made: what its webhook is rendered from. */
export interface EndedTask {
  readonly taskId: string;
  readonly account: string;
  readonly status: TerminalStatus;
  /** The receiver of the webhook; null when the caller named none. */
  readonly callbackUrl: string | null;
  /** Unix milliseconds: the event's time. */
  readonly endedAt: number;
  /** The task object as its caller sees it from now on: the `data` of the webhook. */
  readonly task: object;
}
