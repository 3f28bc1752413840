import { CALLER_ENDPOINTS, FILES_ROOT } from "../../platform/endpoints/callers.ts";
import { addressOf } from "../../platform/endpoints/endpoint.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";
import { type EndedTask, TERMINAL_STATUSES, type TerminalStatus } from "./ended_task.ts";
import { eventOf } from "./envelope.ts";

/** Content of a test event. */
export interface TestEventParts {
  readonly taskId: string;
  readonly account: string;
  readonly status: TerminalStatus;
  /** Unix milliseconds. */
  readonly now: StoreTime;
  /** Base URL of the gateway, without a trailing slash. */
  readonly baseUrl: string;
}

/** Returns the status of an event, given by its full name or its last part; null if there is no such event. */
export function statusOfEvent(name: string): TerminalStatus | null {
  return TERMINAL_STATUSES.find((status) => name === status || name === eventOf(status)) ?? null;
}

/**
 * Returns the end of a fictitious task with the fields of a real one. `metadata.test` is `"true"`; model, provider and
 * prompt mark it as a test. Its addresses do not resolve.
 */
export function testEventOf({ taskId, account, status, now, baseUrl }: TestEventParts): EndedTask {
  const isCompleted = status === "completed";
  const seconds = secondsOf(now);
  const task = {
    id: taskId,
    status,
    model: "test/video",
    prompt: "A test event: no video was requested or generated",
    unsigned_urls: isCompleted ? ["https://vendor.example/test.mp4"] : [],
    mirror_urls: isCompleted ? [`${baseUrl}${FILES_ROOT}/${taskId}-0.mp4`] : [],
    usage: { video_seconds: isCompleted ? 5 : 0, video_cost: "0.0000000000", cost: 0 },
    created_at: seconds,
    updated_at: seconds,
    object: "video",
    polling_url: baseUrl + addressOf(CALLER_ENDPOINTS.readVideo, { id: taskId }),
    seconds: "5",
    metadata: { test: "true" },
    ...(isCompleted ? { progress: 100 } : {}),
    completed_at: isCompleted ? seconds : null,
    provider: "test",
    ...(status === "failed" ? { error: { code: "upstream_error", message: "A test event: nothing failed" } } : {}),
  };
  return { taskId, account, status, callbackUrl: null, endedAt: now, task };
}
