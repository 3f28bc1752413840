import type { UpstreamFailure } from "../../call/failure.ts";
import type { Outbound } from "../../call/outbound_call.ts";
import type {
  CancelOutcome,
  VideoConsumption,
  VideoExtra,
  VideoJobHandle,
  VideoProgress,
  VideoProgressDetails,
} from "../../contract/video_upstream.ts";

/** A job that has not ended. For `isRunning` see {@linkcode VideoProgress}. */
export function pending(isRunning: boolean | null, details: VideoProgressDetails = {}): VideoProgress {
  return { status: "pending", isRunning, ...details };
}

/** An unknown state means that the job is pending. */
export function unknownStatus(status: string): VideoProgress {
  return { status: "pending", isRunning: null, unknownStatus: status.slice(0, 64) };
}

/**
 * Converts a state of Ark, whose terms other vendors use too.
 *
 * @param ended Returns the progress of a job that succeeded or failed.
 */
export function progressOfStatus(
  status: string,
  ended: { readonly succeeded: () => VideoProgress; readonly failed: () => VideoProgress },
): VideoProgress {
  switch (status.toLowerCase()) {
    case "queued":
      return pending(false);
    case "running":
      return pending(true);
    case "succeeded":
      return ended.succeeded();
    case "failed":
      return ended.failed();
    case "cancelled":
    case "canceled":
      return { status: "cancelled" };
    case "expired":
      return { status: "expired" };
    default:
      return unknownStatus(status);
  }
}

/**
 * A job that the vendor reports as finished.
 *
 * @param urls The values of the vendor's result fields. A success without a URL is a failure.
 * @param extras The URLs of further files by type; null for absent ones.
 */
export function finished(
  outbound: Outbound,
  urls: readonly (string | null | undefined)[],
  consumption: VideoConsumption,
  extras: Readonly<Partial<Record<VideoExtra["type"], string | null>>> = {},
): VideoProgress {
  const results = urls.filter((url) => typeof url === "string" && url !== "")
    .map((url) => ({ url: url as string, needsCredential: false }));
  if (results.length === 0) return failed(outbound, "The vendor reported success without a result");
  const files = Object.entries(extras).flatMap(([type, url]) => url ? [{ type: type as VideoExtra["type"], url }] : []);
  return { status: "completed", results, ...(files.length > 0 && { extras: files }), consumption };
}

/**
 * A job that failed.
 *
 * @param vendorMessage The vendor's message, which is redacted here; empty if there is none.
 * @param isContentRefusal Whether the vendor's content rules are the reason.
 */
export function failed(outbound: Outbound, vendorMessage: string, isContentRefusal = false): VideoProgress {
  const { message } = outbound.failure("unavailable", vendorMessage);
  return { status: "failed", code: isContentRefusal ? "content_policy_violation" : "upstream_error", message };
}

/** Converts a failure of a request for the result. Its message is already redacted. */
export function failedWith({ message, facts }: UpstreamFailure): VideoProgress {
  const code = facts.isContentRefusal ? "content_policy_violation" : "upstream_error";
  return { status: "failed", code, message };
}

/**
 * Cancels a job at a vendor that cancels pending jobs only, and deletes the record of an ended job with its result. The
 * state is therefore checked first.
 *
 * @param remove Deletes the job at the vendor. If it fails, the job is polled for the reason.
 */
export async function cancelPending(
  job: VideoJobHandle,
  poll: (job: VideoJobHandle) => Promise<VideoProgress>,
  remove: (job: VideoJobHandle) => Promise<void>,
): Promise<CancelOutcome> {
  const before = await poll(job);
  if (before.status === "cancelled") return "cancelled";
  if (before.status !== "pending") return "gone";
  if (before.isRunning !== false) return "too_late";
  try {
    await remove(job);
    return "cancelled";
  } catch (thrown) {
    const after = await poll(job);
    if (after.status === "cancelled") return "cancelled";
    if (after.status !== "pending") return "gone";
    if (after.isRunning === true) return "too_late";
    throw thrown;
  }
}
