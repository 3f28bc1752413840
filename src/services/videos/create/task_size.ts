import { serialize } from "node:v8";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { StoreLimits } from "../../../platform/store/store.ts";
import type { VideoJobHandle } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { VideoTask } from "../tasks/task.ts";

/** Maximum growth of a pending task's record, for its job handle and progress. */
const PENDING_GROWTH_BYTES = 3 * 1024;

/** Part of the growth reserved for the vendor's job id and the adapter's place of the job. */
const MAX_JOB_BYTES = 2 * 1024;

/**
 * Maximum size of the addresses of a completed task. Its record no longer has the order, so they fit beside the longest
 * metadata and callback address.
 */
const MAX_ADDRESS_BYTES = 16_640;

/** Throws {@linkcode GatewayError} `invalid_request` for a new task whose record could exceed the store's limit. */
export function refuseOversized(task: VideoTask, { maxValueBytes }: Pick<StoreLimits, "maxValueBytes">): void {
  const bytes = serialize(task).length;
  const max = maxValueBytes - PENDING_GROWTH_BYTES;
  if (bytes <= max) return;
  const what = "prompt, metadata, reference URLs and provider.options";
  throw new GatewayError(
    "invalid_request",
    `Cannot store the task: ${what} have ${bytes} bytes, expected at most ${max}`,
  );
}

/** Whether a pending task's record has room for the vendor's job handle. */
export function isHandleStorable({ id, place }: VideoJobHandle): boolean {
  return storedBytesOf(id) + storedBytesOf(place ?? "") <= MAX_JOB_BYTES;
}

/** Returns the leading results or extras whose addresses fit into a completed task. */
export function limitAddresses<T extends { readonly url: string | null }>(things: readonly T[]): T[] {
  let room = MAX_ADDRESS_BYTES;
  return things.filter(({ url }) => (room -= storedBytesOf(url ?? "")) >= 0);
}

/** The store encodes Latin-1 text with one byte per character and other text with two. */
function storedBytesOf(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length;
}
