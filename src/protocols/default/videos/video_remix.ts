import type { Authenticate } from "../../../money/billing/authenticate.ts";
import type { Inbound } from "../../../platform/http/request/inbound.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Videos } from "../../../services/videos/videos.ts";

/** What OpenAI's clients ask for of a finished video, and no vendor's API here does. */
export type VideoChange = "remix" | "edit" | "extend" | "make a character of";

const MAX_NAMED_MODELS = 8;

/**
 * Refuses a change of a finished video. The message names the models that take a video as reference: they edit and
 * extend it in a create of its own, with its own price.
 *
 * @param id The task that is to be changed; null if the request does not name it in its path.
 * @returns Never: always throws.
 * @throws {GatewayError} `invalid_request`; `not_found` for a task of another credential.
 */
export async function refuseChange(
  inbound: Inbound,
  change: VideoChange,
  id: string | null,
  { videos, authenticate }: { readonly videos: Videos; readonly authenticate: Authenticate },
): Promise<never> {
  const { keyId, limits } = await authenticate(inbound);
  if (id !== null) {
    const { status } = await videos.read(keyId, id);
    if (status !== "completed") {
      throw new GatewayError("invalid_request", `Cannot ${change} the video: it is ${status}, expected completed`);
    }
  }
  const models = videos.modelsWithVideoReferences({ limits, receivedAt: inbound.receivedAt });
  const others = models.length > MAX_NAMED_MODELS ? ` and ${models.length - MAX_NAMED_MODELS} more` : "";
  const advice = models.length === 0
    ? "no model here edits or extends videos"
    : "create a new video with the address of this one in input_references, as video_url, by a model that edits and " +
      `extends videos: ${models.slice(0, MAX_NAMED_MODELS).join(", ")}${others}`;
  throw new GatewayError("invalid_request", `Cannot ${change} a video: ${advice}`);
}
