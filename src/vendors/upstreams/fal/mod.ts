import { byFixedHeaders } from "../call/authorization.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { CredentialProbe, UpstreamKind } from "../contract/upstream.ts";
import { falImages } from "./images.ts";
import { falVideos } from "./videos.ts";

/**
 * Requests the status of a job that cannot exist. Without a valid key the vendor responds with 401, else that there is
 * no such job. Source: fal documentation, "Queue API".
 */
const checkFal: CredentialProbe = async (outbound, signal) => {
  try {
    await outbound.json("GET", `/fal-ai/flux/requests/${NO_JOB}/status`, null, () => {}, {
      callerSignal: () => signal,
    });
  } catch (error) {
    const isAccepted = error instanceof UpstreamFailure && error.kind === "invalid" && error.facts.status !== 405;
    if (!isAccepted) throw error;
  }
};

const NO_JOB = "00000000-0000-0000-0000-000000000000";

/** fal's queue, which runs models of many makers. Source: fal documentation, "Authentication". */
export const fal = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Key ${apiKey}` })),
  text: () => [],
  capabilities: ({ outbound, clock }) => ({ images: falImages(outbound, clock), videos: falVideos(outbound) }),
  check: checkFal,
} satisfies UpstreamKind;
