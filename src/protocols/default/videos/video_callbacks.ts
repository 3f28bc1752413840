import { CALLER_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { BodyLimits } from "../../../platform/http/bodies/body.ts";
import { type Inbound, pathParam, type Route } from "../../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../../platform/http/bodies/json_body.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { isTaskId } from "../../../services/videos/tasks/task_id.ts";
import type { Videos } from "../../../services/videos/videos.ts";
import { routesAt } from "../../route_at.ts";

/** The dependencies of the vendor callback endpoint. */
export interface VideoCallbackParts {
  readonly videos: Pick<Videos, "acceptCallback">;
  readonly bodyIdleMs: number;
}

/** A challenge is short; a larger body is not read. */
const MAX_BODY_BYTES = 4_096;
const MAX_CHALLENGE_CHARACTERS = 1_024;

/**
 * `POST /v1/video-callbacks/{task}?token=…`: a vendor reports a change of a job. The body is not trusted, since vendors
 * do not sign it: the gateway polls the task at once instead. The response repeats the `challenge` with which MiniMax
 * verifies the address.
 */
export function videoCallbackRoutes(parts: VideoCallbackParts): Route[] {
  return routesAt(ENDPOINTS.acceptVendorCallback, (inbound) => answer(inbound, parts));
}

async function answer(inbound: Inbound, { videos, bodyIdleMs }: VideoCallbackParts): Promise<Response> {
  const id = pathParam(inbound.params, "id");
  const token = /^token=([A-Za-z0-9_-]{43})$/.exec(inbound.query)?.[1] ?? "";
  // The same message for a wrong token and an unknown task.
  if (!isTaskId(id) || !videos.acceptCallback(id, token)) {
    throw new GatewayError("not_found", "Cannot find the callback");
  }
  const challenge = await challengeIn(inbound, { capBytes: MAX_BODY_BYTES, idleMs: bodyIdleMs });
  return Response.json(challenge === null ? {} : { challenge });
}

/** Null if the body contains none, or cannot be read. */
async function challengeIn(inbound: Inbound, limits: BodyLimits): Promise<string | null> {
  const length = Number(inbound.request.headers.get("content-length") ?? Infinity);
  if (!(length > 0 && length <= MAX_BODY_BYTES)) return null;
  try {
    const { body: { challenge } } = await readJsonObject(inbound, limits);
    const isChallenge = typeof challenge === "string" && challenge !== "" &&
      challenge.length <= MAX_CHALLENGE_CHARACTERS;
    return isChallenge ? challenge : null;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}
