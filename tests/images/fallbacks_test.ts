import { assert, assertEquals } from "@std/assert";
import { imageModel, startImageGateway } from "./image_gateway.ts";
import { startScriptedUpstream } from "../support/scripted_upstream.ts";

/** A vendor that refuses every connection's first bytes, so that nothing was accepted. */
const broken = startScriptedUpstream(async (side) => {
  await side.request();
  await side.say("HTTP/1.1 503 Down\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
});

function atBroken(id: string, image: unknown, fallbacks: readonly string[]) {
  return { ...imageModel(id, image, ["broken"]), fallbacks };
}

const gateway = await startImageGateway({
  providers: { broken: { kind: "openai", base_url: broken.baseUrl, api_key: "key" } },
  models: [
    atBroken("first/painter", { edits: true }, ["sandbox/muse-1", "sandbox/painter-1"]),
    atBroken("first/small", { sizes: ["auto", "256x256"] }, ["sandbox/narrow-1"]),
  ],
  config: { aliases: { painter: { model: "first/painter", fallbacks: ["sandbox/grok-1", "sandbox/painter-1"] } } },
});

Deno.test("pictures are made by the first fallback that can make them, at its price", async () => {
  const before = Number(await gateway.balance());
  for (const model of ["first/painter", "painter"]) {
    // The multimodal series takes no "n".
    const body = { model, prompt: "a fox", quality: "low", n: 1, size: "1024x1024" };
    const response = await gateway.post("/v1/images/generations", body);
    const json = await response.json();
    assertEquals([response.status, json.model], [200, model], JSON.stringify(json).slice(0, 300));
    const served = model === "painter" ? "sandbox/grok-1" : "sandbox/painter-1";
    assertEquals(response.headers.get("x-service-model"), served);
    assert(gateway.logLines.some((line) => line.includes("call_charged") && line.includes(`"${served}"`)));
  }
  assert(Number(await gateway.balance()) < before - 0.06);
});

Deno.test("pictures are changed by a fallback that edits", async () => {
  const made = await gateway.post("/v1/images/generations", {
    model: "sandbox/painter-1",
    prompt: "x",
    quality: "low",
  });
  const { data: [{ b64_json }] } = await made.json();
  const form = new FormData();
  form.set("model", "first/painter");
  form.set("prompt", "make it red");
  form.set("quality", "low");
  form.set("image", new Blob([Uint8Array.from(atob(b64_json), (sign) => sign.charCodeAt(0))]), "a.png");
  const response = await gateway.post("/v1/images/edits", form);
  const json = await response.json();
  assertEquals([response.status, json.model], [200, "first/painter"], JSON.stringify(json).slice(0, 300));
  assertEquals(response.headers.get("x-service-model"), "sandbox/painter-1");
});

Deno.test("a fallback without the size that was asked for is left out", async () => {
  const body = { model: "first/small", prompt: "a fox", quality: "low", size: "256x256" };
  const response = await gateway.post("/v1/images/generations", body);
  assertEquals(response.status >= 500, true);
  await response.body?.cancel();
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await broken.stop();
  },
});
