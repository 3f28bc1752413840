import { textModel } from "../support/gateway.ts";

const IMAGE_PRICING = {
  prompt: "0.000001",
  completion: "0.000002",
  image_input: "0.000002",
  image_output: "0.00001",
};

/** Sections of a configuration with the text models, a model of pictures and one of videos. */
export function mediaConfig(filesFolder: string): Record<string, unknown> {
  return {
    files: filesFolder,
    limits: { vendor_polling: { first: 1, least: 1 } },
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
      {
        id: "sandbox/image-1",
        pricing: IMAGE_PRICING,
        image: { series: "default", edits: true, sizes: ["auto", "1024x1024", "1536x1024"] },
        serves: [{ provider: "sandbox-openai", model: "image-1" }],
      },
      {
        id: "sandbox/image-multimodal-1",
        pricing: IMAGE_PRICING,
        image: { series: "multimodal" },
        serves: [{ provider: "sandbox-google", model: "image-multimodal-1" }],
      },
      {
        id: "sandbox/video-1",
        video: {
          modes: ["text2video", "img2video", "img2video_end", "imgref2video", "mixref2video"],
          price_per_second: { "720p": "0.10" },
          duration: { min: 2, max: 12, default: 5 },
        },
        serves: [{ provider: "sandbox-google", model: "omni-sandbox" }],
      },
    ],
  };
}
