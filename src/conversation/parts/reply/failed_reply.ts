import type { ReplyEvent } from "../../neutral/events.ts";
import type { Stop } from "../../neutral/reply.ts";

/** A failure that a vendor reports in place of a reply. */
export type ReportedFailure = ReplyEvent & { readonly type: "error" };

/** Thrown when a whole reply has the form of its format and reports a failure. */
export class FailedReply extends TypeError {
  /** The name in stack traces. */
  override readonly name = "FailedReply";

  /** @param failure What the vendor reports. */
  constructor(readonly failure: ReportedFailure) {
    super(`Cannot read the reply: it reports a failure (${failure.vendorCode ?? "without a code"})`);
  }
}

/** What a vendor reports, without the list in which some wrap a failure. */
export function unlisted(body: unknown): unknown {
  return Array.isArray(body) && body.length === 1 ? body[0] : body;
}

/** The status of a reply that failed. As with any unreadable 200, the request may have caused it. */
const STATUS_OF_REPLY = 200;

/**
 * The failure of a reply whose model wrote no valid call; null for any other end. A client would take such a reply for
 * a finished one, unless its format has a word for it.
 */
export function failureOfStop({ reason, raw, explanation }: Stop): ReportedFailure | null {
  if (reason !== "bad_tool_call") return null;
  const message = explanation ?? `The model ended its reply with ${raw ?? "an invalid tool call"}`;
  return { type: "error", message, vendorCode: raw, status: STATUS_OF_REPLY };
}
