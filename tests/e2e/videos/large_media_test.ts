import { assert, assertEquals } from "@std/assert";
import { callerOf } from "../../support/gateway_call.ts";
import { plainPng } from "../../support/heavy_media.ts";
import { stateOf } from "../../support/patience.ts";
import { StepMeasure } from "../../support/step_measure.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

/** An image of 4 MB, most of which is behind its pixels. */
const IMAGE = new Uint8Array(4_000_000);
IMAGE.set(plainPng(64, 64));
/** What a thread that answers others writes, parses or decodes in one step. */
const MAX_STEP = 100_000;

Deno.test("a video's picture is encoded for the vendor piece by piece", async () => {
  let sent: Uint8Array | null = null;
  const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (request.method !== "POST") return Response.json({ status: "running" });
    sent = await request.bytes();
    return Response.json({ id: "task-1" });
  });
  const base = { kind: "ark", base_url: `http://127.0.0.1:${vendor.addr.port}/v3`, api_key: "stub-key" };
  const video = { modes: ["img2video"], price_per_second: { default: "0.01" } };
  const gateway = await startVideoGateway({
    added: { providers: { stub: base }, models: [{ id: "stub/video", video, serves: [{ provider: "stub" }] }] },
  });
  try {
    const url = `data:image/png;base64,${IMAGE.toBase64()}`;
    const frame = { type: "image_url", image_url: { url }, frame_type: "first_frame" };
    const body = new TextEncoder().encode(JSON.stringify({ model: "stub/video", prompt: "x", frame_images: [frame] }));
    await callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` })("GET", "/v1/videos");
    using measure = new StepMeasure();
    const response = await fetch(`${gateway.address}/v1/videos`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body,
    });
    assertEquals(response.status, 202, await response.text());
    const bytes = await stateOf("the vendor has the picture", () => Promise.resolve(sent), (each) => each !== null);
    assert(measure.maxLength < MAX_STEP, `${measure.maxLength} characters in one step`);
    const { content } = JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array()));
    assert(content[1].image_url.url === url, "the vendor got another picture");
  } finally {
    await gateway.stop();
    await vendor.shutdown();
  }
});
