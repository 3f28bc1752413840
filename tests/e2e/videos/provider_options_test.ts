import { assertEquals, assertMatch } from "@std/assert";
import type { JsonObject } from "../../../src/platform/lib/json/json_object.ts";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway();
const { call, create, until, money } = gateway;

/** Returns the vendor's request for a task. */
async function sentFor(id: string): Promise<JsonObject> {
  await until(id, "completed", "failed");
  return gateway.created().map(({ body }) => body as JsonObject).findLast((body) =>
    String(body.safety_identifier).endsWith(id)
  )!;
}

const post = (provider: JsonObject, fields: JsonObject = {}) =>
  call("POST", "/v1/videos", { ...VALID_BODY, ...fields, provider });

Deno.test("options keyed by provider reach that provider, without its name", async () => {
  const options = { ark: { watermark: false, seed: 9 } };
  const body = await sentFor(await create({ seed: 7, provider: { options } }));
  assertEquals([body.watermark, body.seed, body.ark], [false, 7, undefined]);
});

Deno.test("a fallback never gets another provider's options, and gets its own", async () => {
  const options = { "ark-bad": { camera_fixed: true }, "ark-two": { watermark: true } };
  const body = await sentFor(await create({ model: "sandbox/video-any", provider: { options } }));
  assertEquals([body.camera_fixed, body.watermark], [undefined, true]);
});

Deno.test("flat options go to the requested provider and are 400 without one", async () => {
  const body = await sentFor(await create({ provider: { type: "ark", options: { watermark: false } } }));
  assertEquals(body.watermark, false);
  const { status, json } = await post({ options: { watermark: false } }, { model: "sandbox/video-any" });
  assertEquals([status, json.error.code], [400, "invalid_request"]);
  assertMatch(json.error.message, /provider\.options\.watermark.*"ark-bad", "ark-two".*provider\.type/);
});

const ILL_KEYED: readonly [what: string, provider: JsonObject, says: RegExp][] = [
  ["an unknown provider", { options: { nobody: { watermark: false } } }, /provider\.options\.nobody.*"ark"/],
  ["a provider that does not serve the model", { options: { "ark-two": {} } }, /provider\.options\.ark-two.*"ark"/],
  ["options of a provider that are no object", { options: { ark: 5 } }, /provider\.options\.ark.*object/],
  ["options of two kinds", { type: "ark", options: { ark: {}, watermark: false } }, /provider\.options\.watermark/],
  ["too many of them", { options: { ark: { note: "x".repeat(4_000) } } }, /4000/],
];

for (const [what, provider, says] of ILL_KEYED) {
  Deno.test(`options for ${what} are 400`, async () => {
    const { status, json, text } = await post(provider);
    assertEquals([status, json.error?.code], [400, "invalid_request"], text);
    assertMatch(json.error.message, says);
  });
}

/** Options that would change the price, the receiver of notifications or the input media, with their paths. */
const REFUSED: readonly [options: JsonObject, path: string][] = [
  [{ frames: 289 }, "frames"],
  [{ Frames: 289 }, "Frames"],
  [{ " frames": 289 }, " frames"],
  [{ "num-frames": 289 }, "num-frames"],
  [{ input: { num_frames: 289 } }, "input.num_frames"],
  [{ "input.num_frames": 289 }, "input.num_frames"],
  [{ list: [{}, { "parameters[frames]": 289 }] }, "list[1].parameters[frames]"],
  [{ duration: 12 }, "duration"],
  [{ extra: { duration: 12 } }, "extra.duration"],
  [{ resolution: "1080p" }, "resolution"],
  [{ "Re\u017folution": "1080p" }, "Re\u017folution"],
  [{ size: "1920*1080" }, "size"],
  [{ width: 4096 }, "width"],
  [{ fps: 60 }, "fps"],
  [{ framespersecond: 60 }, "framespersecond"],
  [{ generate_audio: true }, "generate_audio"],
  [{ n: 4 }, "n"],
  [{ num_videos: 4 }, "num_videos"],
  [{ model: "dear" }, "model"],
  [{ service_tier: "flex" }, "service_tier"],
  [{ priority: 9 }, "priority"],
  [{ draft: true }, "draft"],
  [{ tools: [{ type: "web_search" }] }, "tools"],
  [{ content: [] }, "content"],
  [{ callback_url: "https://example.com/" }, "callback_url"],
  [{ webhook: "https://example.com/" }, "webhook"],
  [{ settings: { webhookUrl: "https://example.com/" } }, "settings.webhookUrl"],
];

for (const [options, path] of REFUSED) {
  Deno.test(`the option "${path}" is 400 with its name; nothing is held or sent`, async () => {
    const before = [await money(), gateway.created().length];
    for (
      const [provider, field] of [[{ type: "ark", options }, path], [{ options: { ark: options } }, `ark.${path}`]]
    ) {
      const { status, json, text } = await post(provider as JsonObject);
      assertEquals([status, json.error?.code], [400, "invalid_request"], text);
      assertEquals(json.error.message.includes(`"provider.options.${field}"`), true, json.error.message);
    }
    assertEquals([await money(), gateway.created().length], before);
  });
}

for (const words of ["--dur 12", "--duration 12", "--frames 289", "--rs 1080p", "--fps 60", "\u2014dur 12 --DUR 12"]) {
  Deno.test(`a prompt in which the vendor would read "${words}" as an option is 400`, async () => {
    const prompt = `${VALID_BODY.prompt} ${words}`;
    const { status, json, text } = await call("POST", "/v1/videos", { ...VALID_BODY, prompt, duration: 2 });
    assertEquals([status, json.error?.code], [400, "invalid_request"], text);
    assertMatch(json.error.message, /"prompt"/);
  });
}

Deno.test("a prompt with dashes that no vendor reads is accepted", async () => {
  assertEquals(
    (await call("POST", "/v1/videos", { ...VALID_BODY, prompt: `${VALID_BODY.prompt} --durable --x 1` })).status,
    202,
  );
});

Deno.test({
  name: "the gateway of the option tests stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
