import { assertEquals } from "@std/assert";
import { UNUSUAL_IMAGES } from "../../support/unusual_images.ts";
import { assertVideoMade } from "./made_video.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

const vendor = await startVideoGateway();
const gateway = await startVideoGateway({
  config: {
    providers: {
      vertex: {
        kind: "vertex",
        base_url: vendor.sandbox.baseUrls.vertex,
        project: "acme",
        location: "us-central1",
        api_key: "sandbox-key-vertex",
      },
    },
    // The built-in models of the provider.
    models: undefined,
  },
});
const { call, create, until } = gateway;
const MODEL = "vertex/veo-3.1-generate-001";
const QUICK = "A lighthouse [[queue 0]] [[run 0]]";
const image_url = { url: `data:image/png;base64,${UNUSUAL_IMAGES.png16}` };

Deno.test("Veo at Vertex AI: every mode makes a video, which is copied and charged by its seconds", async () => {
  const frame = (frame_type: string) => ({ type: "image_url", image_url, frame_type });
  for (
    const [fields, cost] of [
      [{ duration: 4, resolution: "720p", generate_audio: false }, "0.8000000000"],
      [{ duration: 8, resolution: "4K" }, "4.8000000000"],
      [{ duration: 6, resolution: "720p", frame_images: [frame("first_frame")] }, "2.4000000000"],
      [{ duration: 8, frame_images: [frame("first_frame"), frame("last_frame")] }, "3.2000000000"],
      [{ duration: 8, input_references: [{ type: "image_url", image_url }] }, "3.2000000000"],
    ] as const
  ) {
    assertEquals(await assertVideoMade(gateway, { model: MODEL, prompt: QUICK, ...fields }, cost), "vertex");
  }
});

Deno.test("Veo at Vertex AI: filtered and failed videos cost nothing", async () => {
  const before = await gateway.money();
  for (
    const [directive, code] of [
      ["[[refuse]]", "content_policy_violation"],
      ["[[reject]]", "content_policy_violation"],
      ["[[failure]]", "upstream_error"],
      ["[[noresult]]", "upstream_error"],
    ] as const
  ) {
    const id = await create({ model: MODEL, prompt: `${QUICK} ${directive}` });
    const task = await until(id, "completed", "failed");
    assertEquals([directive, task.status, (task.error as { code: string }).code], [directive, "failed", code]);
  }
  assertEquals(await gateway.money(), before);
});

Deno.test("Veo at Vertex AI: what a model does not make is refused before a task exists", async () => {
  for (
    const fields of [
      { duration: 5 },
      { aspect_ratio: "1:1" },
      { resolution: "480p" },
      { model: "vertex/veo-3.1-fast-generate-001", input_references: [{ type: "image_url", image_url }] },
      { provider: { type: "vertex", options: { sampleCount: 2 } } },
      { provider: { type: "vertex", options: { storageUri: "gs://bucket" } } },
    ]
  ) {
    const { status, text } = await call("POST", "/v1/videos", { model: MODEL, prompt: QUICK, ...fields });
    assertEquals([status, fields], [400, fields], text);
  }
});

Deno.test("Veo at Vertex AI: a task cannot be cancelled while it runs", async () => {
  const id = await create({ model: MODEL, prompt: "A lighthouse [[queue 0]] [[never]]" });
  // Ends when the job is at the vendor.
  while ((await call("GET", `/v1/videos/${id}`)).json.provider === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { status, json } = await call("DELETE", `/v1/videos/${id}`);
  assertEquals([status, json.error?.code], [400, "cancel_not_supported"]);
});

Deno.test({
  name: "the gateways of the Veo tests stop",
  async fn() {
    await gateway.stop();
    await vendor.stop();
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
