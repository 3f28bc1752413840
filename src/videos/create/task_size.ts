import { serialize } from "node:v8";
import { GatewayError } from "../../lib/gateway_error.ts";
import type { StoreLimits } from "../../store/store.ts";
import type { VideoJobHandle } from "../../upstreams/video_upstream.ts";
import type { VideoTask } from "../tasks/task.ts";

/** Bytes that a pending task's record may grow by: who has it, and how far it is. */
const PENDING_GROWTH_BYTES = 3 * 1024;

/** Of these, what a vendor's name of the job may take, with the adapter's note of its place. */
const MAX_JOB_BYTES = 2 * 1024;

/**
 * Bytes of addresses that a completed task keeps: beside the longest prompt, metadata and callback address they fit
 * into its record, from which the order is gone.
 */
const MAX_ADDRESS_BYTES = 16_640;

/** Throws {@linkcode GatewayError} `invalid_request` for a new task whose record would outgrow what the store takes. */
export function refuseOversized(task: VideoTask, { maxValueBytes }: Pick<StoreLimits, "maxValueBytes">): void {
  const bytes = serialize(task).length;
  const most = maxValueBytes - PENDING_GROWTH_BYTES;
  if (bytes <= most) return;
  const what = "prompt, metadata, addresses of references and provider.options";
  throw new GatewayError("invalid_request", `Cannot keep the video: ${what} take ${bytes} bytes, at most ${most} fit`);
}

/** Whether a pending task's record can keep what its vendor calls the job. */
export function isKeepable({ id, place }: VideoJobHandle): boolean {
  return storedBytesOf(id) + storedBytesOf(place ?? "") <= MAX_JOB_BYTES;
}

/** The first of a vendor's results and extras whose addresses a completed task can keep. */
export function keptAddresses<T extends { readonly url: string | null }>(things: readonly T[]): T[] {
  let room = MAX_ADDRESS_BYTES;
  return things.filter(({ url }) => (room -= storedBytesOf(url ?? "")) >= 0);
}

/** The store writes text of Latin-1 with one byte for a character, any other with two. */
function storedBytesOf(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length;
}
