import { assertEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { arkVideos } from "../../src/vendors/upstreams/ark/videos.ts";
import { falVideos } from "../../src/vendors/upstreams/fal/videos.ts";
import { minimaxVideos } from "../../src/vendors/upstreams/minimax/videos.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import type { VideoUpstream } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { xaiVideos } from "../../src/vendors/upstreams/xai/videos.ts";
import { optionsByProvider, orderForProvider } from "../../src/services/videos/request/provider_options.ts";
import type { TaskOrder } from "../../src/services/videos/tasks/task.ts";

const NOWHERE = {} as Outbound;
const upstreams = new Map<string, VideoUpstream>([
  ["ark", arkVideos(NOWHERE)],
  ["fal", falVideos(NOWHERE)],
  ["minimax", minimaxVideos(NOWHERE)],
  ["xai", xaiVideos(NOWHERE)],
]);
const OWNERS = {
  model: "a-model",
  serving: [...upstreams.keys()],
  pin: null,
  isProvider: (name: string) => upstreams.has(name),
  upstreams,
};

const REFUSED: readonly [provider: string, names: string][] = [
  ["ark", "frames num_frames draft draft_task priority service_tier tools content callback_url generate_audio"],
  ["fal", "num_frames frames_per_second generate_audio audio image_url end_image_url video_urls audio_url loras"],
  ["fal", "fal_webhook webhook_url num_videos image_size width acceleration"],
  ["fal", "sync_mode pro_mode turbo_mode use_turbo enable_detail_pass generate_multi_clip_switch multi_prompt"],
  ["fal", "num_segments export_fps use_rife match_input_num_frames match_input_frames_per_second"],
  ["fal", "elements character_ids ref_image_urls input_image_url mask_video_url control_video_url audio_url_person1"],
  [
    "ark",
    "upload_url outputUrl clip_duration_sec shot-seconds video_callback_address my_webhook export_fps speed_tier",
  ],
  ["minimax", "base_video content first_frame_image subject_reference callback_url Duration"],
  ["xai", "image last_frame keyframes reference_images video storage_options n generate_audio upload_url"],
];

for (const [provider, names] of REFUSED) {
  for (const name of names.split(" ")) {
    Deno.test(`optionsByProvider() rejects ${name} for ${provider} at any depth`, () => {
      const { details } = assertThrows(
        () => optionsByProvider({ [provider]: { a: [{ [name]: 1 }] } }, OWNERS),
        GatewayError,
      );
      assertEquals(details.field, `provider.options.${provider}.a[0].${name}`);
    });
  }
}

Deno.test("optionsByProvider() accepts vendor options that do not overlap with the request's own fields", () => {
  const sent: JsonObject = {
    ark: { watermark: false, camera_fixed: true, return_last_frame: true, safety_identifier: "u", ratio: "adaptive" },
    fal: { negative_prompt: "rain", enable_safety_checker: true, cfg_scale: 0.5, camera_control: { pan: 1 } },
    minimax: { prompt_optimizer: false, fast_pretreatment: true, aigc_watermark: false },
    xai: { user: "u" },
  };
  assertEquals(optionsByProvider(sent, OWNERS), sent as Record<string, JsonObject>);
});

Deno.test("orderForProvider() returns each provider's own options, and all options for a record of an earlier version", () => {
  const order = { seed: 1 } as TaskOrder;
  const keyed = { ...order, optionsByProvider: { ark: { watermark: false } } };
  assertEquals(orderForProvider(keyed, "ark"), { ...order, options: { watermark: false } });
  assertEquals(orderForProvider(keyed, "fal").options, {});
  assertEquals(orderForProvider(keyed, "constructor").options, {});
  assertEquals(orderForProvider({ ...order, options: { watermark: true } }, "fal").options, { watermark: true });
  assertEquals(orderForProvider(order, "fal").options, {});
});

Deno.test("vendors that forward prompts report prompt options for the models that read them", () => {
  for (
    const [provider, model, option] of [
      ["ark", "ep-1", "--dur"],
      ["fal", "fal-ai/bytedance/seedance/v1/pro", "--dur"],
      ["fal", "fal-ai/veo3", null],
    ] as const
  ) {
    assertEquals(upstreams.get(provider)!.optionInPrompt!("A fox --dur 12", model), option);
    assertEquals(upstreams.get(provider)!.optionInPrompt!("A fox --durable", model), null);
  }
});
