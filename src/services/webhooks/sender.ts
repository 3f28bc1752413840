import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { EgressError } from "../../platform/net/egress_error.ts";
import { createPinnedPoster, type PostResponse } from "../../platform/net/pinned_post.ts";
import type { JobHandler } from "../../platform/store/job_runner.ts";
import { keptBytesOf, type PostEvent } from "./attempt.ts";
import { createAttemptLimiter } from "./attempt_limiter.ts";
import { deliverHandler } from "./deliver.ts";
import type { SentEvent, TestReceivers } from "./test_receivers.ts";
import type { WebhookParts } from "./webhook_parts.ts";

/** Sends deliveries. */
export interface Sender {
  readonly handler: JobHandler;
  /** Postpones all waiting and later attempts. */
  stop(): void;
  /** Closes the connections kept to receivers. */
  close(): void;
}

/** Maximum number of response bytes read before the connection is closed. */
const MAX_RESPONSE_BYTES = 16_384;

/** Opens a sender without connections. */
export function openSender(parts: WebhookParts): Sender {
  const { clock, egress, timeoutMs, random, receivers } = parts;
  let trusted = egress.caCertificates;
  let poster = createPinnedPoster(egress);
  const post: PostEvent = parts.post ?? ((url, { headers, body, signal }) => {
    const opened = receivers?.loaded ?? null;
    const receiver = opened?.idAt(url) ?? null;
    if (opened !== null && receiver !== null) return handOver(opened, receiver, { headers, body, via: "gateway" });
    if (egress.caCertificates !== trusted) {
      poster.close();
      trusted = egress.caCertificates;
      poster = createPinnedPoster(egress);
    }
    return poster.post(url, {
      headers,
      body,
      signal,
      timeoutMs,
      capBytes: MAX_RESPONSE_BYTES,
      keptBytes: keptBytesOf,
    });
  });
  const limiter = createAttemptLimiter({ monotonicMs: () => clock.monotonicMs(), random, hungMs: timeoutMs / 2 });
  return {
    handler: deliverHandler({ ...parts, post, limiter }),
    stop: () => limiter.close(),
    close: () => poster.close(),
  };
}

const RECEIVED: PostResponse = { status: 200, header: () => null, bytes: 0 };

/** Gives an event to a receiver inside the gateway without a connection, which `egress` would refuse. */
async function handOver(
  receivers: Pick<TestReceivers, "receive">,
  id: string,
  event: SentEvent,
): Promise<PostResponse> {
  await receivers.receive(id, event).catch((error) => {
    if (!(error instanceof GatewayError)) throw error;
    throw new EgressError("broken", error.message);
  });
  return RECEIVED;
}
