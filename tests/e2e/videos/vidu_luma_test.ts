import { assert, assertEquals } from "@std/assert";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { UNUSUAL_IMAGES } from "../../support/unusual_images.ts";
import { assertVideoMade } from "./made_video.ts";

const vendor = await startVideoGateway();
const { vidu, luma, dreamMachine } = vendor.sandbox.baseUrls;
const providers = {
  vidu: { kind: "vidu", base_url: vidu, api_key: "sandbox-key-vidu" },
  luma: { kind: "luma", base_url: luma, api_key: "sandbox-key-luma" },
  "dream-machine": { kind: "dream-machine", base_url: dreamMachine, api_key: "sandbox-key-dream" },
};
// The built-in models of the providers.
const gateway = await startVideoGateway({ config: { providers, models: undefined } });
// A model of the operator's own, with the operator's price.
const RAY_2 = {
  id: "dream-machine/ray-2",
  video: {
    modes: ["text2video", "img2video", "img2video_end"],
    price_per_second: { "480p": "0.08", "720p": "0.142" },
    duration: { only: [5, 9], default: 5 },
    audio: "never",
    aspect_ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "9:21"],
  },
  serves: [{ provider: "dream-machine", model: "ray-2" }],
};
const own = await startVideoGateway({ config: { providers, models: [RAY_2] } });
const { call, create, until } = gateway;
const QUICK = "A lighthouse [[queue 0]] [[run 0]]";
const bytes = { url: `data:image/png;base64,${UNUSUAL_IMAGES.png16}` };
const frame = (frame_type: string, image_url: object = bytes) => ({ type: "image_url", image_url, frame_type });

Deno.test("Vidu, Luma: every built-in model makes videos in its modes, charged by seconds and copied", async () => {
  const both = [frame("first_frame"), frame("last_frame")];
  const picture = { type: "image_url", image_url: bytes };
  for (
    const [model, fields, cost] of [
      ["vidu/viduq3-pro", { duration: 16, resolution: "1080p" }, "1.9200000000"],
      ["vidu/viduq3-pro", { duration: 1, resolution: "480p", frame_images: [frame("first_frame")] }, "0.0450000000"],
      ["vidu/viduq3-turbo", { frame_images: both, generate_audio: false }, "0.2750000000"],
      ["vidu/viduq3", { input_references: Array(7).fill(picture), aspect_ratio: "3:4" }, "0.3000000000"],
      ["luma/ray-3.2", { resolution: "1080p", aspect_ratio: "21:9" }, "1.2000000000"],
      ["luma/ray-3.2", { frame_images: both }, "0.3000000000"],
      ["luma/ray-3.2-10s", { resolution: "480p" }, "0.4500000000"],
    ] as const
  ) {
    await assertVideoMade(gateway, { resolution: "720p", ...fields, model, prompt: QUICK }, cost);
  }
});

Deno.test("Vidu, Luma: refused and failed videos cost nothing", async () => {
  const before = await gateway.money();
  for (const model of ["vidu/viduq3-pro", "luma/ray-3.2"]) {
    for (
      const [directive, code] of [
        ["[[refuse]]", "content_policy_violation"],
        ["[[reject]]", "content_policy_violation"],
        ["[[failure]]", "upstream_error"],
        ["[[noresult]]", "upstream_error"],
      ] as const
    ) {
      const id = await create({ model, resolution: "720p", prompt: `${QUICK} ${directive}` });
      const task = await until(id, "completed", "failed");
      assertEquals([model, directive, (task.error as { code: string }).code], [model, directive, code]);
    }
  }
  assertEquals(await gateway.money(), before);
});

Deno.test("Vidu, Luma: what a model does not make is refused before a task exists", async () => {
  const picture = { type: "image_url", image_url: bytes };
  for (
    const fields of [
      { model: "vidu/viduq3-pro", duration: 17 },
      { model: "vidu/viduq3-pro", aspect_ratio: "21:9" },
      { model: "vidu/viduq3-pro", input_references: [picture] },
      { model: "vidu/viduq3", input_references: Array(8).fill(picture) },
      { model: "vidu/viduq3" },
      { model: "vidu/viduq3", input_references: [picture], duration: 2 },
      { model: "luma/ray-3.2", duration: 10 },
      { model: "luma/ray-3.2", resolution: "4K" },
      { model: "luma/ray-3.2-10s", frame_images: [frame("first_frame")] },
      { model: "luma/ray-3.2", provider: { options: { luma: { video: { hdr: true } } } } },
      { model: "vidu/viduq3-pro", provider: { options: { vidu: { off_peak: true } } } },
      { model: "vidu/viduq3-pro", provider: { options: { vidu: { subjects: [] } } } },
    ]
  ) {
    const { status, text } = await call("POST", "/v1/videos", { prompt: QUICK, resolution: "720p", ...fields });
    assertEquals([status, fields], [400, fields], text);
  }
});

Deno.test("Vidu: a waiting task is cancelled at the vendor, a running one cannot be", async () => {
  const atVendor = async (prompt: string) => {
    const id = await create({ model: "vidu/viduq3-pro", resolution: "720p", prompt });
    // Ends when the job is at the vendor.
    while ((await call("GET", `/v1/videos/${id}`)).json.provider === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return await call("DELETE", `/v1/videos/${id}`);
  };
  const waiting = await atVendor("A lighthouse [[queue 600000]]");
  assertEquals([waiting.status, waiting.json.status], [200, "cancelled"]);
  const running = await atVendor("A lighthouse [[queue 0]] [[never]]");
  assertEquals([running.status, running.json.error?.code], [400, "cancel_not_supported"]);
});

Deno.test("Dream Machine: frames by address make a video, bytes need a public gateway", async () => {
  const address = { url: "https://pictures.example/a.png" };
  const frame_images = [frame("first_frame", address), frame("last_frame", address)];
  const fields = { model: "dream-machine/ray-2", resolution: "720p", prompt: QUICK };
  const task = await own.until(await own.create({ ...fields, duration: 9, frame_images }), "completed", "failed");
  assertEquals([task.status, (task.usage as { video_cost: string }).video_cost], ["completed", "1.2780000000"]);
  const { status, json } = await own.call("POST", "/v1/videos", { ...fields, frame_images: [frame("first_frame")] });
  assertEquals([status, json.error?.code], [400, "invalid_request"]);
  assert(json.error.message.includes("image_url"), json.error.message);
});

Deno.test({
  name: "the gateways of the tests of Vidu and Luma stop",
  async fn() {
    await own.stop();
    await gateway.stop();
    await vendor.stop();
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
