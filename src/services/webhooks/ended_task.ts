import type { StoreTime } from "../../platform/store/store_time.ts";

/** A final status of a video task. Source: docs/api/videos.md#states. */
export type TerminalStatus = typeof TERMINAL_STATUSES[number];

/** Every {@linkcode TerminalStatus}. */
export const TERMINAL_STATUSES = ["completed", "failed", "cancelled", "expired"] as const;

/** A video task that ends in the current commit; its webhook is rendered from this. */
export interface EndedTask {
  readonly taskId: string;
  readonly account: string;
  readonly status: TerminalStatus;
  /** The receiver of the webhook; null if the caller named none. */
  readonly callbackUrl: string | null;
  /** Unix milliseconds: the time of the event. */
  readonly endedAt: StoreTime;
  /** The task object as the caller sees it from now on: the `data` of the webhook. */
  readonly task: object;
}
