import { assertEquals } from "@std/assert";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import { itemAt } from "../../support/items.ts";
import { ALL_MODES, startVideoGateway } from "../../support/video_gateway.ts";
import { stateOf } from "../../support/patience.ts";

const vendor = await startVideoGateway();
const gateway = await startVideoGateway({
  config: {
    providers: { alibaba: { kind: "alibaba", base_url: vendor.sandbox.baseUrls.alibaba, api_key: "sandbox-key" } },
    models: [
      {
        id: "alibaba/wan2.6",
        video: { modes: ALL_MODES, price_per_second: { default: "0.10" }, audio: "always", duration: { max: 15 } },
      },
      { id: "alibaba/qwen-image-3.0", image: { series: "reference" }, pricing: { per_image: "0.03" } },
      { id: "alibaba/qwen3.8-max", pricing: { prompt: "0.000001", completion: "0.000002" } },
    ].map((model) => ({ ...model, serves: [{ provider: "alibaba" }] })),
  },
});
const { call, create, until } = gateway;
const QUICK = "A lighthouse [[queue 0]] [[run 0]]";

/** An image of one pixel. */
const PIXEL = "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

Deno.test("Wan: a video from a frame ends with its result, its price and the duration that the vendor reports", async () => {
  const frame = { type: "image_url", image_url: { url: PIXEL }, frame_type: "first_frame" };
  const id = await create({
    model: "alibaba/wan2.6",
    prompt: `${QUICK} [[seconds 4]]`,
    frame_images: [frame],
    duration: 5,
  });
  const task = await until(id, "completed", "failed");
  assertEquals([task.status, task.provider], ["completed", "alibaba"]);
  const response = await fetch(itemAt(task.mirror_urls as string[], 0));
  assertEquals(new Uint8Array(await response.arrayBuffer()), SAMPLE_VIDEO);
  assertEquals((task.usage as { video_cost: string }).video_cost, "0.4000000000");
});

Deno.test("Wan: a waiting task can be cancelled, and a rejection costs nothing", async () => {
  const waiting = await create({ model: "alibaba/wan2.6", prompt: "A lighthouse [[queue 600000]]" });
  // It may be being submitted.
  const cancel = () => call("DELETE", `/v1/videos/${waiting}`);
  const { json } = await stateOf("the cancel is accepted", cancel, ({ status }) => status === 200);
  assertEquals(json.status, "cancelled");
  const before = await gateway.money();
  const refused = await until(await create({ model: "alibaba/wan2.6", prompt: `${QUICK} [[refuse]]` }), "failed");
  assertEquals((refused.error as { code: string }).code, "content_policy_violation");
  assertEquals(await gateway.money(), before);
});

Deno.test("Qwen-Image: an image from a prompt and a reference is returned as base64", async () => {
  const { status, json } = await call("POST", "/v1/images/generations", {
    model: "alibaba/qwen-image-3.0",
    prompt: "A fox",
    size: "1024x1024",
    quality: "auto",
    n: 1,
    input_images: [PIXEL],
  });
  assertEquals([status, json.data.length, json.usage.num_input_images], [200, 1, 1]);
  assertEquals(atob(json.data[0].b64_json.slice(0, 12)).slice(1, 4), "PNG");
});

Deno.test("Qwen: the same provider serves texts", async () => {
  const messages = [{ role: "user", content: "Hello" }];
  const { status, json } = await call("POST", "/v1/chat/completions", { model: "alibaba/qwen3.8-max", messages });
  assertEquals([status, json.choices[0].message.content], [200, "You said: Hello"]);
});

Deno.test({
  name: "the gateways of the Alibaba tests stop",
  async fn() {
    await gateway.stop();
    await vendor.stop();
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
