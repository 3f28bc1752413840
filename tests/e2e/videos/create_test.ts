import { assertEquals, assertMatch } from "@std/assert";
import { closedOrigin, startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

/** An image of one pixel. */
const PIXEL = "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const image = (url = PIXEL) => ({ type: "image_url", image_url: { url } });
const audio = (url = "https://media.example.com/a.mp3") => ({ type: "audio_url", audio_url: { url } });
const video = (url = "https://media.example.com/a.mp4") => ({ type: "video_url", video_url: { url } });
const frame = (frame_type: string, url = PIXEL) => ({ ...image(url), frame_type });
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** A closed port. */
const CLOSED = closedOrigin();

const gateway = await startVideoGateway();
const { call, create, until, money } = gateway;

Deno.test("POST /v1/videos returns 202 with id, status and polling_url, and the task ends with its result and its price", async () => {
  const before = await money();
  const { status, json } = await call("POST", "/v1/videos", VALID_BODY);
  assertEquals(status, 202);
  assertEquals(Object.keys(json), ["id", "status", "polling_url", "estimate"]);
  assertMatch(json.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assertEquals([json.status, json.polling_url], ["pending", `${gateway.address}/v1/videos/${json.id}`]);
  const task = await until(json.id, "completed", "failed");
  assertEquals(task.status, "completed");
  assertEquals(task.usage, { video_seconds: 5, video_cost: "0.5000000000", cost: 0.5 });
  assertEquals([task.model, task.prompt, task.provider], ["sandbox/video-1", VALID_BODY.prompt, "ark"]);
  const after = await money();
  assertEquals([before.held, after.held], ["0.0000000000", "0.0000000000"]);
  assertEquals(Number(before.balance) - Number(after.balance), 0.5);
});

const MODES: readonly [mode: string, fields: Record<string, unknown>, roles: readonly string[]][] = [
  ["text2video", {}, []],
  ["img2video", { frame_images: [frame("first_frame")] }, ["first_frame"]],
  ["img2video_end", { frame_images: [frame("last_frame"), frame("first_frame")] }, ["first_frame", "last_frame"]],
  ["imgref2video", { input_references: [image(), image()] }, ["reference_image", "reference_image"]],
  ["mixref2video", { input_references: [image(), audio(), video()] }, [
    "reference_image",
    "reference_audio",
    "reference_video",
  ]],
  ["text2video when both lists are empty", { frame_images: [], input_references: [] }, []],
];

for (const [mode, fields, roles] of MODES) {
  Deno.test(`POST /v1/videos infers ${mode}, and the vendor gets each reference in its role`, async () => {
    const id = await create(fields);
    await until(id, "completed");
    const body = gateway.created().map((seen) => seen.body as Record<string, unknown>)
      .find(({ safety_identifier }) => safety_identifier === id)!;
    const content = body.content as { role?: string }[];
    assertEquals(content.flatMap(({ role }) => role ?? []), roles);
    assertEquals([body.duration, body.resolution], [5, "720p"]);
  });
}

Deno.test("POST /v1/videos forwards provider.options, and its own fields override them", async () => {
  const options = { watermark: false, seed: 9 };
  const id = await create({ duration: 4, aspect_ratio: "9:16", seed: 7, provider: { type: "ark", options } });
  await until(id, "completed");
  const body = gateway.created().map((seen) => seen.body as Record<string, unknown>)
    .find(({ safety_identifier }) => safety_identifier === id)!;
  assertEquals([body.watermark, body.duration, body.ratio, body.seed], [false, 4, "9:16", 7]);
});

const ids = async () => (await call("GET", "/v1/videos?limit=100")).json.data.map((task: { id: string }) => task.id);

type Refusal = readonly [what: string, fields: Record<string, unknown>, code: string, says: RegExp];
const bad = (what: string, fields: Record<string, unknown>, says: RegExp): Refusal => [
  what,
  fields,
  "invalid_request",
  says,
];

const REFUSALS: readonly Refusal[] = [
  bad("no model", { model: undefined }, /"model"/),
  bad("no prompt", { prompt: undefined }, /"prompt"/),
  bad("an empty prompt", { prompt: "" }, /"prompt"/),
  bad("a prompt of a megabyte", { prompt: "x".repeat(1_000_000) }, /"prompt"/),
  ["a model that is not there", { model: "sandbox/nothing" }, "model_not_found", /model/],
  bad("a model of another kind", { model: "sandbox/chat-1" }, /does not generate videos/),
  [
    "frames beside references",
    { frame_images: [frame("first_frame")], input_references: [image()] },
    "references_conflict",
    /both/,
  ],
  ["10 images", { input_references: times(10, image()) }, "too_many_references", /image_url/],
  ["4 clips", { input_references: times(4, audio()) }, "too_many_references", /audio_url/],
  ["2 videos", { input_references: times(2, video()) }, "too_many_references", /video_url/],
  ["10 frames", { frame_images: times(10, frame("first_frame")) }, "too_many_references", /image_url/],
  bad("a frame in the middle", { frame_images: [frame("middle")] }, /frame_images\[0\]\.frame_type/),
  bad("two first frames", { frame_images: times(2, frame("first_frame")) }, /frame_images\[1\]/),
  bad("a last frame alone", { frame_images: [frame("last_frame")] }, /frame_images\[0\]/),
  bad(
    "an image that is called audio",
    { input_references: [{ ...image(), type: "audio_url" }] },
    /input_references\[0\]/,
  ),
  bad(
    "a video among the frames",
    { frame_images: [{ ...video(), frame_type: "first_frame" }] },
    /frame_images\[0\]\.type/,
  ),
  bad("references that are no list", { input_references: {} }, /"input_references"/),
  bad("broken data", { input_references: [image("data:image/png;base64,@@")] }, /input_references\[0\]/),
  bad("data of another medium", { input_references: [audio(PIXEL)] }, /input_references\[0\]/),
  bad(
    "a reference at a private address",
    { input_references: [image("http://10.0.0.1/a.png")] },
    /input_references\[0\]/,
  ),
  ...[0, -5, 5.5, "5", 1e9, 1, 13].map((duration) => bad(`duration ${duration}`, { duration }, /"duration"/)),
  bad("resolution 8K", { resolution: "8K" }, /"resolution"/),
  bad("a resolution that the model lacks", { resolution: "4K" }, /"resolution"/),
  bad("aspect_ratio 5:4", { aspect_ratio: "5:4" }, /"aspect_ratio"/),
  ...["0x0", "1280×720", "99999999x1", "8000x100", "1280"].map((size) => bad(`size ${size}`, { size }, /"size"/)),
  bad("size with resolution", { size: "1280x720", resolution: "720p" }, /"size"/),
  bad("size with aspect_ratio", { size: "1280x720", aspect_ratio: "16:9" }, /"size"/),
  bad("a seed beyond what numbers hold", { seed: 9007199254740993 }, /"seed"/),
  bad("generate_audio as text", { generate_audio: "true" }, /"generate_audio"/),
  bad("real_person without an image", { real_person: true }, /"real_person"/),
  bad("real_person with sound only", { real_person: true, input_references: [audio()] }, /"real_person"/),
  bad("provider as text", { provider: "ark" }, /"provider"/),
  ...["asset://a", "mm_file://1", "gs://bucket/a.png", "s3://bucket/a.png"].map((url) =>
    bad(
      `options with ${url}`,
      { provider: { options: { ark: { images: [{ image_url: { url } }] } } } },
      /provider\.options\.ark\.images\[0\]/,
    )
  ),
  bad(
    "options with a file id",
    { provider: { type: "ark", options: { video: { file_id: "file-1" } } } },
    /provider\.options\.video\.file_id/,
  ),
  bad("options that are no object", { provider: { options: [] } }, /provider\.options/),
  bad(
    "a mode that the model lacks",
    { model: "sandbox/video-2", frame_images: [frame("first_frame")] },
    /img2video.*text2video/,
  ),
  ...[
    "http://example.com/h",
    "ftp://example.com/h",
    "",
    5,
    "https://3232235777/h",
    "https://10.0.0.1/",
    "https://169.254.169.254/",
    "https://u:p@example.com/",
    `https://example.com/${"x".repeat(3_000)}`,
  ].map((callback_url): Refusal => [
    `callback_url ${String(callback_url).slice(0, 40)}`,
    { callback_url },
    "invalid_callback_url",
    /callback_url/,
  ]),
];

for (const [what, fields, code, says] of REFUSALS) {
  Deno.test(`POST /v1/videos rejects ${what} as ${code}; nothing is held, stored or sent`, async () => {
    const [before, sent, tasks] = [await money(), gateway.created().length, await ids()];
    const { status, json, text } = await call("POST", "/v1/videos", { ...VALID_BODY, ...fields });
    assertEquals([status, json.error?.code], [code === "model_not_found" ? 404 : 400, code], text);
    assertEquals(Object.keys(json.error), ["code", "message"]);
    assertMatch(json.error.message, says);
    assertEquals([await money(), gateway.created().length], [before, sent]);
    assertEquals(await ids(), tasks);
    assertEquals([...Deno.readDirSync(gateway.filesFolder)].filter(({ name }) => name.includes("-in-")), []);
  });
}

Deno.test("POST /v1/videos returns routing errors in type as well, and the providers that serve the model", async () => {
  const unknown = await call("POST", "/v1/videos", { ...VALID_BODY, provider: { type: "nobody" } });
  assertEquals([unknown.status, unknown.json.error.code, unknown.json.error.type], [
    400,
    "invalid_provider_type",
    "invalid_provider_type",
  ]);
  const other = await call("POST", "/v1/videos", { ...VALID_BODY, provider: { type: "sandbox-openai" } });
  assertEquals([other.status, other.json.error.type], [400, "provider_type_unavailable"]);
  assertMatch(other.json.error.message, /"ark"/);
});

Deno.test("POST /v1/videos without a key, and with a wrong one, is 401 in the shape of videos", async () => {
  const without = await call("POST", "/v1/videos", VALID_BODY, { authorization: "" });
  assertEquals([without.status, without.json.error.code], [401, "unauthorized"]);
  const wrong = await call("GET", "/v1/videos/abc", undefined, { authorization: "Bearer sk-sy-wrong-key-of-nobody" });
  assertEquals([wrong.status, wrong.json.error.code], [401, "invalid_api_key"]);
});

Deno.test("PUT on a task is 405 with its methods, in the shape of videos", async () => {
  const { status, headers, json } = await call("PUT", `/v1/videos/${crypto.randomUUID()}`, {});
  assertEquals([status, headers.get("allow"), Object.keys(json.error)], [405, "GET, DELETE", ["code", "message"]]);
});

Deno.test("the largest valid order is accepted, stored and completed", async () => {
  const long = (host: string) => `${host}/${"a".repeat(2_048 - host.length - 1)}`;
  const input_references = [
    ...times(9, image(long("https://media.example.com"))),
    ...times(3, audio(long(CLOSED))),
    video(long("https://media.example.com")),
  ];
  const prompt = `[[queue 0]] [[run 0]] ${"\u6f22".repeat(9_978)}`;
  const options = { ark: { note: "\u6f22".repeat(3_970) } };
  const callback_url = long("https://8.8.8.8");
  const task = await until(
    await create({ prompt, input_references, provider: { options }, callback_url }),
    "completed",
    "failed",
  );
  assertEquals([task.status, task.prompt], ["completed", prompt]);
});

Deno.test("a size is priced as the smallest resolution that holds its short side", async () => {
  const task = await until(await create({ size: "1920x1080", duration: 2 }), "completed");
  assertEquals((task.usage as Record<string, unknown>).video_cost, "0.6000000000");
});

for (const vendor of ["kling", "runway"]) {
  Deno.test(`a size is not larger than priced at ${vendor}, which does not support 480p`, async () => {
    const task = await until(
      await create({ model: `sandbox/video-${vendor}`, size: "854x480" }),
      "completed",
      "failed",
    );
    assertEquals([task.status, (task.error as Record<string, unknown>)?.code], ["failed", "invalid_request"]);
  });
}

Deno.test({
  name: "the gateway of the create tests stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
