import { assert, assertEquals, assertRejects } from "@std/assert";
import OpenAI, { APIError, toFile } from "openai";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway();
const client = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.key, maxRetries: 0 });
const MODEL = "sandbox/video-1";
/** An image of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Polls as in OpenAI's documentation, and in `create_and_poll` of its Python library. */
async function polled(video: OpenAI.Video): Promise<OpenAI.Video> {
  let current = video;
  while (current.status === "queued" || current.status === "in_progress") {
    await new Promise((resolve) => setTimeout(resolve, 10));
    current = await client.videos.retrieve(current.id);
  }
  return current;
}

/** Returns the body of the last create that the vendor received. */
function ordered(): Record<string, unknown> {
  return gateway.created().at(-1)!.body as Record<string, unknown>;
}

Deno.test("client.videos creates from a prompt, polls and downloads", async () => {
  const prompt = "A lighthouse [[queue 50]] [[run 100]]";
  const video = await client.videos.create({ model: MODEL, prompt, seconds: "8", size: "1280x720" });
  assertEquals([video.object, video.status, video.seconds, video.size], ["video", "queued", "8", "1280x720"]);
  assertEquals([video.model, video.prompt, video.error, video.completed_at], [MODEL, prompt, null, null]);
  assert(video.progress >= 0 && Number.isInteger(video.created_at));
  const done = await polled(video);
  assertEquals([done.status, done.progress, typeof done.completed_at], ["completed", 100, "number"]);
  const content = await client.videos.downloadContent(done.id);
  assertEquals(await content.bytes(), SAMPLE_VIDEO);
  assertEquals(ordered().duration, 8);
  const thumbnail = await assertRejects(
    () => client.videos.downloadContent(done.id, { variant: "thumbnail" }),
    APIError,
  );
  const sprites = await assertRejects(
    () => client.videos.downloadContent(done.id, { variant: "spritesheet" }),
    APIError,
  );
  assertEquals([thumbnail.status, sprites.status], [404, 400]);
});

Deno.test("client.videos creates from an uploaded image", async () => {
  const video = await client.videos.create({
    model: MODEL,
    prompt: "It comes alive [[queue 0]] [[run 0]]",
    input_reference: await toFile(Uint8Array.fromBase64(PIXEL), "first.png", { type: "image/png" }),
  });
  assertEquals((await polled(video)).status, "completed");
  const content = ordered().content as { type: string; role?: string; image_url?: { url: string } }[];
  const frame = content.find(({ type }) => type === "image_url")!;
  assertEquals(frame.role, "first_frame");
  assertEquals(frame.image_url!.url, `data:image/png;base64,${PIXEL}`);
});

Deno.test("client.videos creates from the URL of an image", async () => {
  const image_url = `data:image/png;base64,${PIXEL}`;
  const prompt = "It comes alive [[queue 0]] [[run 0]]";
  const video = await client.videos.create({ model: MODEL, prompt, input_reference: { image_url } });
  assertEquals((await polled(video)).status, "completed");
});

Deno.test("client.videos gets the end of a video without a result", async () => {
  const create = (prompt: string) => client.videos.create({ model: MODEL, prompt });
  const refused = await polled(await create("No [[queue 0]] [[run 0]] [[refuse]]"));
  assertEquals([refused.status, refused.error?.code], ["failed", "content_policy_violation"]);
  const expired = await polled(await create("Old [[queue 0]] [[run 0]] [[expire]]"));
  assertEquals([expired.status, expired.error?.code], ["failed", "expired"]);
});

Deno.test("client.videos deletes a video that has ended, and cancels one that has not", async () => {
  const done = await polled(await client.videos.create({ model: MODEL, prompt: "Short [[queue 0]] [[run 0]]" }));
  assertEquals(await client.videos.delete(done.id), { id: done.id, object: "video.deleted", deleted: true });
  const gone = await assertRejects(() => client.videos.retrieve(done.id), APIError);
  assertEquals(gone.status, 404);
  const pending = await client.videos.create({ model: MODEL, prompt: "Later [[queue 600000]]" });
  await client.videos.delete(pending.id);
  const cancelled = await client.videos.retrieve(pending.id);
  assertEquals([cancelled.status, cancelled.error?.code], ["failed", "cancelled"]);
  const unknown = await assertRejects(() => client.videos.delete(crypto.randomUUID()), APIError);
  assertEquals(unknown.status, 404);
});

Deno.test("client.videos lists its videos page by page", async () => {
  const key = { headers: { authorization: `Bearer ${gateway.otherKey}` } };
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.push((await client.videos.create({ model: MODEL, prompt: "One of three" }, key)).id);
  }
  const listed: string[] = [];
  for await (const { id, object } of client.videos.list({ limit: 2, order: "asc" }, key)) {
    assertEquals(object, "video");
    listed.push(id);
  }
  assertEquals(listed, ids);
});

Deno.test("client.videos gets the gateway's errors", async () => {
  const create = (fields: Record<string, unknown>) =>
    client.videos.create({ model: MODEL, prompt: "A lighthouse", ...fields } as OpenAI.VideoCreateParams);
  const bad: readonly [fields: Record<string, unknown>, named: string][] = [
    [{ seconds: "many" }, "seconds"],
    [{ seconds: "4", duration: 5 }, "seconds"],
    [{ size: "huge" }, "size"],
    [{ input_reference: { file_id: "file-1", image_url: "https://example.com/a.png" } }, "input_reference.file_id"],
    [{ input_reference: await toFile(new TextEncoder().encode("no picture"), "a.png") }, "input_reference"],
    [{ metadata: { key: "v".repeat(513) } }, "metadata.key"],
    [{ frame_images: [{ type: "image_url" }] }, "frame_images[][type]"],
  ];
  for (const [fields, named] of bad) {
    const error = await assertRejects(() => create(fields), APIError);
    assertEquals([error.status, error.code], [400, "invalid_request"], named);
    assert(error.message.includes(`"${named}"`), error.message);
  }
});

Deno.test("other callers get pending where OpenAI's client gets queued", async () => {
  const video = await client.videos.create({ model: MODEL, prompt: "Later [[queue 600000]]" });
  const { json } = await gateway.call("GET", `/v1/videos/${video.id}`);
  assertEquals([video.status, json.status], ["queued", "pending"]);
});

Deno.test({
  name: "the gateway of OpenAI's client stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
