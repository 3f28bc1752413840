import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { vendorId } from "../shared/vendor_id.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import type { VideoOrder, VideoProgress, VideoUpstream } from "../contract/video_upstream.ts";
import { readLumaError } from "./error.ts";

const Created = z.object({ id: vendorId });

/** How one of Luma's APIs makes videos. */
export interface Generations {
  /** The path of creations. */
  readonly path: string;
  /** Returns the body of a creation. Throws as {@linkcode VideoUpstream.create} does. */
  readonly bodyOf: (outbound: Outbound, order: VideoOrder) => JsonObject;
  /** Reads the response to a poll. */
  readonly progressOf: (outbound: Outbound, response: unknown) => VideoProgress;
}

/**
 * What Luma's two APIs have in common. A job cannot be cancelled: deleting it does not stop it. The vendor returns no
 * client-supplied identifier, so a lost job cannot be found.
 */
export function generations(
  outbound: Outbound,
  { path, bodyOf, progressOf }: Generations,
): Pick<VideoUpstream, "create" | "poll" | "cancel" | "find" | "open"> {
  const exchange = videoExchange(outbound, readLumaError);
  return {
    async create(order) {
      const { id } = await exchange.create(path, bodyOf(outbound, order), (response) => Created.parse(response));
      return { id, place: null };
    },
    poll: ({ id }) =>
      exchange.get(`/generations/${encodeURIComponent(id)}`, (response) => progressOf(outbound, response)),
    cancel: null,
    find: null,
    open: null,
  };
}

/** Fields of an order that Luma lacks: its videos are silent, and it takes no seed. */
export function droppedByLuma({ seed, generateAudio }: VideoOrder): string[] {
  return [...(seed !== null ? ["seed"] : []), ...(generateAudio === true ? ["generate_audio"] : [])];
}
