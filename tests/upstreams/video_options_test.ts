/**
 * The fields of vendors' requests that callers may set as options. Source: the vendors' client packages, by their
 * types.
 */
import { assertEquals } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { wanVideos } from "../../src/vendors/upstreams/alibaba/videos.ts";
import { googleVideos } from "../../src/vendors/upstreams/google/videos.ts";
import { klingVideos } from "../../src/vendors/upstreams/kling/videos.ts";
import { dreamMachineVideos } from "../../src/vendors/upstreams/luma/dream_machine.ts";
import { lumaVideos } from "../../src/vendors/upstreams/luma/videos.ts";
import { openrouterVideos } from "../../src/vendors/upstreams/openai/videos.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { pikaVideos } from "../../src/vendors/upstreams/pika/videos.ts";
import { replicateVideos } from "../../src/vendors/upstreams/replicate/videos.ts";
import { runwayVideos } from "../../src/vendors/upstreams/runway/videos.ts";
import type { VideoUpstream } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { viduVideos } from "../../src/vendors/upstreams/vidu/videos.ts";
import { xaiVideos } from "../../src/vendors/upstreams/xai/videos.ts";
import { refuseOptions } from "../../src/services/videos/request/priced_options.ts";
import { withAnswers } from "../support/vendor_stage.ts";

interface Vendor {
  readonly name: string;
  readonly open: (outbound: Outbound) => VideoUpstream;
  /** Fields that affect neither length, count, size, audio, tier nor callbacks, and are not inputs of the video. */
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
    name: "Vidu",
    open: viduVideos,
    free: ["movement_amplitude", "style", "payload", "watermark", "wm_position", "meta_data"],
    refused: [
      ...["model", "duration", "resolution", "audio", "bgm", "callback_url", "off_peak", "is_rec", "voice_id"],
      ...["images", "videos", "subjects", "wm_url"],
    ],
  },
  {
    name: "Luma",
    open: lumaVideos,
    free: ["user_id", "loop"],
    refused: [
      ...["model", "type", "duration", "resolution", "hdr", "exr_export", "edit", "source", "image_ref"],
      ...["start_frame", "end_frame", "keyframes", "keyframe_indexes", "generation_id"],
    ],
  },
  {
    name: "Dream Machine",
    open: dreamMachineVideos,
    free: ["loop", "concepts"],
    refused: ["model", "generation_type", "duration", "resolution", "keyframes", "callback_url"],
  },
  {
    name: "Pika",
    open: pikaVideos,
    free: ["negative_prompt"],
    refused: ["model", "duration_s", "transition_duration_s", "resolution", "image", "images", "video"],
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
  {
    name: "Wan",
    open: wanVideos,
    free: ["prompt", "negative_prompt", "prompt_extend", "watermark", "seed", "template"],
    refused: [
      ...["model", "duration", "resolution", "size", "ratio", "audio", "shot_type", "n", "input", "media"],
      ...["img_url", "first_frame_url", "last_frame_url", "reference_urls", "reference_video_urls", "audio_url"],
    ],
  },
  {
    name: "Gemini Omni",
    open: googleVideos,
    free: ["system_instruction", "generation_config", "temperature", "top_p", "seed", "safety_settings"],
    refused: [
      ...["model", "input", "response_format", "response_modalities", "video_config", "duration", "resolution"],
      ...["background", "store", "stream", "tools", "agent", "previous_interaction_id", "cached_content"],
      ...["webhook_config", "service_tier"],
    ],
  },
  {
    name: "Replicate",
    open: replicateVideos,
    free: ["prompt", "negative_prompt", "prompt_optimizer", "camera_fixed", "seed", "guidance_scale"],
    refused: [
      ...["duration", "num_frames", "fps", "frames_per_second", "resolution", "mode", "generate_audio", "version"],
      ...["image", "start_image", "last_frame_image", "reference_images", "reference_video", "video", "webhook"],
      ...["multi_prompt", "interpolate_output", "lora_weights", "webhook_events_filter"],
    ],
  },
  {
    name: "xAI",
    open: xaiVideos,
    free: ["prompt", "user", "reference_voice_ids"],
    refused: [
      ...["model", "duration", "seconds", "resolution", "size", "generate_audio", "n", "image", "video"],
      ...["reference_images", "reference_audios", "last_frame", "storage_options", "upload_url"],
    ],
  },
];

for (const { name, open, free, refused } of VENDORS) {
  Deno.test(`${name} videos: every request field is a refused option or does not change the price`, () =>
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
