import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import OpenAI, { APIError } from "openai";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

const other = newApiKey();
const gateway = await startVideoGateway();
const client = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.key, maxRetries: 0 });

async function refusalOf(send: () => Promise<unknown>): Promise<APIError> {
  return await assertRejects(send, APIError);
}

Deno.test("client.videos.remix is 400 with the models that edit or extend, and makes and holds nothing", async () => {
  const id = await gateway.create(VALID_BODY);
  await gateway.until(id, "completed");
  const [money, creates] = [await gateway.money(), gateway.created().length];
  const { status, message } = await refusalOf(() => client.videos.remix(id, { prompt: "At night" }));
  assertEquals(status, 400);
  assertStringIncludes(message, "Cannot remix a video");
  assertStringIncludes(message, "sandbox/video-1");
  assert(!message.includes("sandbox/video-2"), "a model of texts only");
  assertEquals([await gateway.money(), gateway.created().length], [money, creates]);
});

Deno.test("a video of nobody, of another key or without its result is not remixed", async () => {
  const missing = await refusalOf(() => client.videos.remix("video_123", { prompt: "At night" }));
  assertEquals(missing.status, 404);
  const id = await gateway.create({ ...VALID_BODY, prompt: "A lighthouse [[queue 100000]]" });
  const pending = await refusalOf(() => client.videos.remix(id, { prompt: "At night" }));
  assertEquals(pending.status, 400);
  assertStringIncludes(pending.message, "it is pending, expected completed");
  const foreign = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.otherKey, maxRetries: 0 });
  assertEquals((await refusalOf(() => foreign.videos.remix(id, { prompt: "At night" }))).status, 404);
  const unknown = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: other, maxRetries: 0 });
  assertEquals((await refusalOf(() => unknown.videos.remix(id, { prompt: "At night" }))).status, 401);
});

Deno.test("client.videos.edit, extend and createCharacter are 400 with the models, too", async () => {
  const video = new File([new Uint8Array(8)], "a.mp4", { type: "video/mp4" });
  for (
    const [what, send] of [
      ["edit", () => client.videos.edit({ prompt: "At night", video: { id: "video_123" } })],
      ["extend", () => client.videos.extend({ prompt: "At night", seconds: "4", video: { id: "video_123" } })],
      ["make a character of", () => client.videos.createCharacter({ name: "Ann", video })],
    ] as const
  ) {
    const { status, message } = await refusalOf(send);
    assertEquals([what, status], [what, 400]);
    assertStringIncludes(message, `Cannot ${what} a video`);
    assertStringIncludes(message, "sandbox/video-1");
  }
});

Deno.test("the gateway of the remixes stops", () => gateway.stop());
