import type { UpstreamFailure } from "./failure.ts";
import type { Outbound } from "./outbound_call.ts";
import type {
  CancelOutcome,
  VideoConsumption,
  VideoExtra,
  VideoJobHandle,
  VideoProgress,
  VideoProgressDetails,
} from "./video_upstream.ts";

/** The vendor has the job still; see the contract for `isRunning`. */
export function pending(isRunning: boolean | null, details: VideoProgressDetails = {}): VideoProgress {
  return { status: "pending", isRunning, ...details };
}

/** A word that the adapter does not know means that the job goes on. */
export function pendingAs(word: string): VideoProgress {
  return { status: "pending", isRunning: null, unknownWord: word.slice(0, 64) };
}

/**
 * What a status says in the words that Ark began and others took over.
 *
 * @param ended What became of a job that succeeded, or that failed.
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
      return pendingAs(status);
  }
}

/**
 * A job that the vendor calls finished.
 *
 * @param urls Whatever stands where results stand; success without a single address is a failure.
 * @param extras Addresses of what else was made, by what it is; null for what was not.
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
  const made = Object.entries(extras).flatMap(([type, url]) => url ? [{ type: type as VideoExtra["type"], url }] : []);
  return { status: "completed", results, ...(made.length > 0 && { extras: made }), consumption };
}

/**
 * A job that the vendor gave up.
 *
 * @param said The vendor's words, which are redacted here; empty when it gave none.
 * @param isContentRefusal Whether its content rules are the reason.
 */
export function failed(outbound: Outbound, said: string, isContentRefusal = false): VideoProgress {
  const { message } = outbound.failure("unavailable", said);
  return { status: "failed", code: isContentRefusal ? "content_policy_violation" : "upstream_error", message };
}

/** The same for a failure that was met on the way to a result; its words are redacted already. */
export function failedWith({ message, facts }: UpstreamFailure): VideoProgress {
  const code = facts.isContentRefusal ? "content_policy_violation" : "upstream_error";
  return { status: "failed", code, message };
}

/**
 * Cancels at a vendor that takes back what waits, keeps what runs, and deletes the record of what has ended: there the
 * state is looked at first, because a result must not be deleted.
 *
 * @param remove Deletes the job at the vendor. When that fails, the job's new state tells why.
 */
export async function cancelWaiting(
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
