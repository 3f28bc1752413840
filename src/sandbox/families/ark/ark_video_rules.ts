import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";

/** The roles of each kind of part. Source: Ark API reference, "Create a video generation task". */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  image_url: ["first_frame", "last_frame", "reference_image"],
  video_url: ["reference_video"],
  audio_url: ["reference_audio"],
};
const RATIOS = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"];
const RESOLUTIONS = ["480p", "720p", "1080p", "4k"];

/** Returns the text of a task's content, empty if there is none. */
export function promptOf(body: JsonObject): string {
  const parts = Array.isArray(body.content) ? body.content : [];
  const text = parts.find((part) => isObject(part) && part.type === "text");
  return isObject(text) && typeof text.text === "string" ? text.text : "";
}

/** Rejects what the vendor rejects at once. Throws {@linkcode SimulatedError}. */
export function checkTask(body: JsonObject): void {
  if (typeof body.model !== "string" || body.model === "") {
    throw new SimulatedError(400, "Missing model.", { code: "MissingParameter" });
  }
  if (!Array.isArray(body.content) || body.content.length === 0) {
    throw new SimulatedError(400, "Missing content.", { code: "MissingParameter" });
  }
  if ("extra_body" in body) throw new SimulatedError(400, "Unknown field extra_body.");
  const roles = body.content.map(roleOf).filter((role) => role !== null);
  const frames = roles.filter((role) => role.endsWith("_frame"));
  if (frames.length > 0 && frames.length < roles.length) {
    throw new SimulatedError(400, "Frames and references cannot be mixed.");
  }
  if (frames.includes("last_frame") && !frames.includes("first_frame")) {
    throw new SimulatedError(400, "Missing first_frame.");
  }
  if (new Set(frames).size < frames.length) throw new SimulatedError(400, "Each frame can be given once.");
  if (frames.length > 0 && body.ratio !== undefined) throw new SimulatedError(400, "ratio cannot be set with frames.");
  checkAllowed(body.ratio, RATIOS, "ratio");
  checkAllowed(body.resolution, RESOLUTIONS, "resolution");
  const { duration } = body;
  if (
    duration !== undefined && duration !== -1 &&
    (!Number.isInteger(duration) || Number(duration) < 1 || Number(duration) > 60)
  ) {
    throw new SimulatedError(400, "duration is out of range.");
  }
}

/** Returns the role of one part, or null for text. */
function roleOf(part: unknown): string | null {
  if (!isObject(part)) throw new SimulatedError(400, "A part is no object.");
  if (part.type === "text") return null;
  const roles = ROLES[String(part.type)];
  const named = part[String(part.type)];
  const url = isObject(named) ? named.url : undefined;
  if (!roles || typeof url !== "string") throw new SimulatedError(400, "A part has no address.");
  const isWeb = /^https?:\/\//.test(url) || url.startsWith("asset://");
  if (!isWeb && (part.type === "video_url" || !/^data:(image|audio|video)\/[\w.+-]+;base64,/.test(url))) {
    throw new SimulatedError(
      400,
      part.type === "video_url" ? "The video must be provided as a web url." : "Invalid address.",
    );
  }
  const role = typeof part.role === "string" ? part.role : "first_frame";
  if (!roles.includes(role)) throw new SimulatedError(400, "A part has a role that it cannot have.");
  return role;
}

function checkAllowed(value: unknown, allowed: readonly string[], name: string): void {
  if (value !== undefined && !allowed.includes(String(value))) {
    throw new SimulatedError(400, `${name} is not supported.`);
  }
}
