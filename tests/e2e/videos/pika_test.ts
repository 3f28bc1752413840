import { assertEquals } from "@std/assert";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { UNUSUAL_IMAGES } from "../../support/unusual_images.ts";
import { assertVideoMade } from "./made_video.ts";
import { untilSo } from "../../support/patience.ts";

const vendor = await startVideoGateway();
const providers = { pika: { kind: "pika", base_url: vendor.sandbox.baseUrls.pika, api_key: "sandbox-key-pika" } };
// The built-in models of the provider.
const gateway = await startVideoGateway({ config: { providers, models: undefined } });
// A model of the operator's own, with the operator's price.
const FRAMES = {
  id: "pika/pikaframes",
  video: {
    modes: ["img2video_end"],
    price_per_second: { "720p": "0.05", "1080p": "0.10" },
    duration: { min: 1, max: 10, default: 5 },
    aspect_ratios: ["16:9"],
  },
  serves: [{ provider: "pika" }],
};
const own = await startVideoGateway({ config: { providers, models: [FRAMES] } });
const { call, create, until } = gateway;
const QUICK = "A lighthouse [[queue 0]] [[run 0]]";
const address = { url: "https://pictures.example/a.png" };
const frame = (frame_type: string, image_url: object = address) => ({ type: "image_url", image_url, frame_type });
const first = { frame_images: [frame("first_frame")] };

Deno.test("Pika: every built-in model makes videos in its modes, charged by seconds and copied", async () => {
  for (
    const [model, fields, cost] of [
      ["pika/pika-2.5", {}, "0.2000000000"],
      ["pika/pika-2.5", { resolution: "1080p", seed: 7 }, "0.4500000000"],
      ["pika/pika-2.5", first, "0.2000000000"],
      ["pika/pika-2.5", { size: "1920x1080", resolution: undefined }, "0.4500000000"],
      ["pika/pika-2.5-10s", { ...first, resolution: "1080p" }, "0.9000000000"],
    ] as const
  ) {
    await assertVideoMade(gateway, { resolution: "720p", ...fields, model, prompt: QUICK }, cost);
  }
});

Deno.test("Pika: a settled charge above the price is the operator's, who is warned", async () => {
  const id = await create({ model: "pika/pika-2.5", prompt: `${QUICK} [[seconds 6]]` });
  const { video_seconds, video_cost } = (await until(id, "completed", "failed")).usage as Record<string, unknown>;
  assertEquals([video_seconds, video_cost], [5, "0.2000000000"]);
  const warned = () => gateway.logLines.filter((line) => line.includes('"underpriced"') && line.includes(id));
  // Ends when the warning is logged.
  await untilSo(() => warned().length !== 0);
  assertEquals(warned().map((line) => JSON.parse(line).cost), ["0.0400000000"]);
});

Deno.test("Pika: refused and failed videos cost nothing, and a rate limit is waited for", async () => {
  const before = await gateway.money();
  for (
    const [directive, code] of [
      ["[[refuse]]", "content_policy_violation"],
      ["[[reject]]", "content_policy_violation"],
      ["[[failure]]", "upstream_error"],
      ["[[noresult]]", "upstream_error"],
    ] as const
  ) {
    const id = await create({ model: "pika/pika-2.5", prompt: `${QUICK} ${directive}` });
    const task = await until(id, "completed", "failed");
    assertEquals([directive, (task.error as { code: string }).code], [directive, code]);
  }
  assertEquals(await gateway.money(), before);
  const limited = await create({ model: "pika/pika-2.5", prompt: `${QUICK} [[fail 429 2]]` });
  assertEquals((await until(limited, "completed", "failed")).status, "completed");
});

Deno.test("Pika: what a model does not make is refused before a task exists", async () => {
  const bytes = { url: `data:image/png;base64,${UNUSUAL_IMAGES.png16}` };
  for (
    const fields of [
      { duration: 10 },
      { resolution: "480p" },
      { aspect_ratio: "9:16" },
      { frame_images: [frame("first_frame"), frame("last_frame")] },
      { input_references: [{ type: "image_url", image_url: address }] },
      // The vendor fetches images, and this gateway has no public address.
      { frame_images: [frame("first_frame", bytes)] },
      { model: "pika/pika-2.5-10s" },
      { model: "pika/pika-2.5-10s", ...first, duration: 5 },
      { provider: { options: { pika: { duration_s: 10 } } } },
      { provider: { options: { pika: { images: [] } } } },
    ]
  ) {
    const body = { model: "pika/pika-2.5", prompt: QUICK, resolution: "720p", ...fields };
    const { status, text } = await call("POST", "/v1/videos", body);
    assertEquals([status, fields], [400, fields], text);
  }
});

Deno.test("Pika: sound and ratio are named as dropped, and a running job cannot be cancelled", async () => {
  const body = { model: "pika/pika-2.5", prompt: "A lighthouse [[queue 0]] [[never]]", aspect_ratio: "16:9" };
  const { status, json, headers } = await call("POST", "/v1/videos", body);
  assertEquals([status, headers.get("x-service-dropped")], [202, "aspect_ratio"]);
  // Ends when the job is at the vendor.
  while ((await call("GET", `/v1/videos/${json.id}`)).json.provider === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const cancelled = await call("DELETE", `/v1/videos/${json.id}`);
  assertEquals([cancelled.status, cancelled.json.error?.code], [400, "cancel_not_supported"]);
});

Deno.test("Pikaframes: two frames by address make a video of the operator's price", async () => {
  const frame_images = [frame("first_frame"), frame("last_frame")];
  const fields = { model: "pika/pikaframes", resolution: "720p", prompt: QUICK, duration: 8, frame_images };
  const task = await own.until(await own.create(fields), "completed", "failed");
  assertEquals([task.status, (task.usage as { video_cost: string }).video_cost], ["completed", "0.4000000000"]);
});

Deno.test({
  name: "the gateways of the tests of Pika stop",
  async fn() {
    await own.stop();
    await gateway.stop();
    await vendor.stop();
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
