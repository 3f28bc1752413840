/** Which fields of vendors' requests callers may set as options. Source: the vendors' client packages, by their types. */
import { assertEquals } from "@std/assert";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import { klingVideos } from "../../src/upstreams/kling/videos.ts";
import { openrouterVideos } from "../../src/upstreams/openai/videos.ts";
import type { Outbound } from "../../src/upstreams/outbound.ts";
import { runwayVideos } from "../../src/upstreams/runway/videos.ts";
import type { VideoUpstream } from "../../src/upstreams/video_upstream.ts";
import { refuseOptions } from "../../src/videos/request/priced_options.ts";
import { withAnswers } from "../support/video_stage.ts";

interface Vendor {
  readonly name: string;
  readonly open: (outbound: Outbound) => VideoUpstream;
  /** Neither length, count, size, sound, tier and receiver of news, nor what the video is made from. */
  readonly free: readonly string[];
  readonly refused: readonly string[];
}

const VENDORS: readonly Vendor[] = [
  {
    name: "OpenRouter",
    open: openrouterVideos,
    free: ["prompt", "provider", "seed", "session_id", "trace", "user"],
    refused: [
      ...["model", "duration", "resolution", "aspect_ratio", "size", "generate_audio", "callback_url"],
      ...["frame_images", "input_references", "previous_job_id", "creativity", "upscale_factor"],
      "multi_prompt",
    ],
  },
  {
    name: "Kling",
    open: klingVideos,
    free: [
      ...["prompt", "negative_prompt", "cfg_scale", "camera_control", "watermark_info"],
      ...["multi_shot", "shot_type", "multi_prompt"],
    ],
    refused: [
      ...["model_name", "mode", "duration", "aspect_ratio", "sound", "callback_url", "external_task_id"],
      ...["image", "image_tail", "image_list", "video_list", "video_id", "video_url", "element_list", "voice_list"],
      ...["static_mask", "dynamic_masks"],
    ],
  },
  {
    name: "Runway",
    open: runwayVideos,
    free: ["promptText", "negativePrompt", "contentModeration", "promptExpansionMode", "seed"],
    refused: [
      ...["model", "duration", "ratio", "resolution", "targetAspectRatio", "audio", "outputFormat", "proresProfile"],
      ...["promptImage", "promptVideo", "videoUri", "references", "referenceVideos", "referenceAudio", "keyframes"],
      "mode",
    ],
  },
];

for (const { name, open, free, refused } of VENDORS) {
  Deno.test(`${name} videos: every field of its requests is refused as an option, or changes no price`, () =>
    withAnswers([], ({ outbound }) => {
      const { refusedOptions = {} } = open(outbound);
      const isRefused = (option: string) => {
        try {
          refuseOptions({ nested: { [option]: 1 } }, refusedOptions, "provider.options");
          return false;
        } catch (thrown) {
          if (!(thrown instanceof GatewayError)) throw thrown;
          return true;
        }
      };
      assertEquals(free.filter(isRefused), []);
      assertEquals(refused.filter((option) => !isRefused(option)), []);
      return Promise.resolve();
    }));
}
