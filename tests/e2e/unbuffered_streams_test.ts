import { assertEquals } from "@std/assert";
import { startImageGateway } from "../images/image_gateway.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startVideoGateway, VALID_BODY } from "../support/video_gateway.ts";
import { CALLER_PROTOCOLS, CONTENT } from "./caller_protocols.ts";

/** What keeps nginx from collecting a response. */
async function markOf(response: Response): Promise<string> {
  await response.body?.cancel();
  return `${response.status} ${response.headers.get("x-accel-buffering")}`;
}

for (const isolates of [1, 2]) {
  Deno.test(`streams of text have x-accel-buffering: no, threads: ${isolates}`, async () => {
    const gateway = await startTestGateway({ isolates, config: { limits: { large_body: 4_000 } } });
    const { address, key } = gateway;
    const post = async (path: string, headers: Record<string, string>, body: unknown) =>
      await fetch(address + path, { method: "POST", headers, body: JSON.stringify(body) });
    try {
      for (const face of CALLER_PROTOCOLS) {
        for (const model of ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"]) {
          for (const text of ["hello", "x".repeat(8_000)]) {
            const response = await post(face.path(model, true), face.headers(key), face.body(model, text, true));
            assertEquals(await markOf(response), "200 no", `${face.name} to ${model}`);
          }
        }
        const whole = await post(face.path(face.ownModel), face.headers(key), face.body(face.ownModel, "hello"));
        assertEquals(await markOf(whole), "200 null", face.name);
      }
      const list = `/gencompat/v1beta/models/${CONTENT.ownModel}:streamGenerateContent`;
      const response = await post(list, CONTENT.headers(key), CONTENT.body(CONTENT.ownModel, "hello"));
      assertEquals(await markOf(response), "200 no", "a stream as a list");
      const kept = await post("/v1/chat/completions", {
        "content-type": "application/json",
        authorization: `Bearer ${key}`,
        "x-service-resume": "true",
      }, { model: "sandbox/chat-1", stream: true, messages: [{ role: "user", content: "hello" }] });
      const path = kept.headers.get("x-service-resume") ?? "";
      assertEquals(await markOf(kept), "200 no", "a stream that can be resumed");
      const resumed = await fetch(address + path, { headers: { authorization: `Bearer ${key}` } });
      assertEquals(await markOf(resumed), "200 no", "a resumed stream");
    } finally {
      await gateway.stop();
    }
  });
}

Deno.test("streams of pictures have x-accel-buffering: no", async () => {
  const gateway = await startImageGateway();
  try {
    const order = { model: "sandbox/painter-1", prompt: "a fox", quality: "low", stream: true };
    assertEquals(await markOf(await gateway.post("/v1/images/generations", order)), "200 no");
    const whole = await gateway.post("/v1/images/generations", { ...order, stream: false });
    assertEquals(await markOf(whole), "200 null");
  } finally {
    await gateway.stop();
  }
});

Deno.test("events of videos have x-accel-buffering: no", async () => {
  const gateway = await startVideoGateway();
  try {
    const id = await gateway.create(VALID_BODY);
    const headers = { authorization: `Bearer ${gateway.key}` };
    assertEquals(await markOf(await fetch(`${gateway.address}/v1/videos/${id}/events`, { headers })), "200 no");
  } finally {
    await gateway.stop();
  }
});
