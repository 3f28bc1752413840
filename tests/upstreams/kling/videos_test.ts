import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { kling } from "../../../src/vendors/upstreams/kling/mod.ts";
import { klingVideos } from "../../../src/vendors/upstreams/kling/videos.ts";
import type { VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const JOB = { id: "867283741759111202", place: "text2video" };
const RESULT = "https://cdn.example.invalid/out.mp4";

const envelope = (data: unknown, code = 0, message = "SUCCEED") => ({ code, message, request_id: "req-1", data });
const job = (task_status: string, more: object = {}) => ok(envelope({ task_id: JOB.id, task_status, ...more }));
const error = (code: number, message: string) => ({ code, message, request_id: "req-1" });
const done = (videos: unknown) => job("succeed", { task_status_msg: "", task_result: { videos } });
const created = job("submitted", { task_info: { external_task_id: null } });

videoUpstreamContract("Kling", {
  open: klingVideos,
  basePath: "",
  order: videoOrder(),
  created: { answer: created, handle: JOB },
  longId: { answer: ok('{"code":0,"data":{"task_id":90071992547409931}}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [job("submitted")], means: { status: "pending", isRunning: false } },
    { answers: [job("processing")], means: { status: "pending", isRunning: true } },
    { answers: [ok(envelope(null))], means: { status: "pending", isRunning: null } },
    {
      answers: [done([{ id: "v", url: RESULT, duration: "5.1" }])],
      means: {
        status: "completed",
        results: [{ url: RESULT, needsCredential: false }],
        consumption: { seconds: 5.1, costUsd: null },
      },
    },
    {
      answers: [done([{ url: RESULT, duration: "" }])],
      means: {
        status: "completed",
        results: [{ url: RESULT, needsCredential: false }],
        consumption: { seconds: null, costUsd: null },
      },
    },
    {
      answers: [job("failed", { task_status_msg: "Failure to pass the risk control system" })],
      means: {
        status: "failed",
        code: "content_policy_violation",
        message: "Failure to pass the risk control system",
      },
    },
    {
      answers: [job("failed", { task_status_msg: "The picture is too small" })],
      means: { status: "failed", code: "upstream_error", message: "The picture is too small" },
    },
    {
      answers: [job("failed")],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
  ],
  unknownStatus: { answers: [job("resting")], status: "resting" },
  emptySuccesses: [
    [job("succeed")],
    [job("succeed", { task_result: null })],
    [done(null)],
    [done([])],
    [done([{ url: "" }])],
  ],
  contentRefusals: [
    { status: 400, body: error(1301, "Failure to pass the risk control system") },
    { status: 400, body: error(1300, "Platform strategy triggered") },
    { status: 200, body: error(1301, "Failure to pass the risk control system") },
  ],
  refusal: (message) => error(1, message),
  cancels: null,
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([created], async ({ outbound, vendor }) => {
    const { place } = await klingVideos(outbound).create(videoOrder(order));
    const { path, body } = itemAt(vendor.seen, 0);
    assertEquals(path, `/v1/videos/${place}`);
    const { model_name, prompt, external_task_id, ...fields } = JSON.parse(body);
    assertEquals([model_name, prompt, external_task_id], [order.model ?? "a-model", "a lighthouse", ID]);
    return { place, fields };
  });
}

const ID = videoOrder().taskId;

Deno.test("Kling videos: a text prompt is sent with mode, shape, audio and callback URL, and the length as text", async () => {
  const callbackUrl = "https://gateway.example.invalid/news/secret";
  const order = { resolution: "4K", aspectRatio: "9:16", generateAudio: true, callbackUrl };
  assertEquals(await sent(order), {
    place: "text2video",
    fields: { duration: "5", mode: "4k", aspect_ratio: "9:16", sound: "on", callback_url: callbackUrl },
  });
  assertEquals((await sent({ resolution: null, durationSeconds: -1, generateAudio: false })).fields, { sound: "off" });
});

Deno.test("Kling videos: frames are sent as base64 and decide the shape", async () => {
  const order = {
    mode: "img2video_end",
    resolution: "1080p",
    aspectRatio: "16:9",
    firstFrame: { ...mediaAt("image", "AAAA"), form: "base64" },
    lastFrame: mediaAt("image", "https://example.invalid/b.png"),
  } as const;
  assertEquals(await sent(order), {
    place: "image2video",
    fields: { duration: "5", mode: "pro", image: "AAAA", image_tail: "https://example.invalid/b.png" },
  });
});

Deno.test("Kling videos: reference images have their own path, without audio", async () => {
  const references = [mediaAt("image", "AAAA"), mediaAt("image", "BBBB")];
  assertEquals(await sent({ mode: "imgref2video", references, generateAudio: true, aspectRatio: "1:1" }), {
    place: "multi-image2video",
    fields: { duration: "5", mode: "std", aspect_ratio: "1:1", image_list: [{ image: "AAAA" }, { image: "BBBB" }] },
  });
});

Deno.test("Kling videos: an omni model supports every mode at one path", async () => {
  const model = "kling-v3-omni";
  const frames = { firstFrame: mediaAt("image", "AAAA"), lastFrame: mediaAt("image", "BBBB") };
  assertEquals(await sent({ model, mode: "img2video_end", ...frames }), {
    place: "omni-video",
    fields: {
      duration: "5",
      mode: "std",
      image_list: [{ image_url: "AAAA", type: "first_frame" }, { image_url: "BBBB", type: "end_frame" }],
    },
  });
  assertEquals((await sent({ model: "kling-video-o1" })).place, "omni-video");
});

Deno.test("Kling videos: a reference video has its own length and no audio", async () => {
  const references = [mediaAt("image", "AAAA"), mediaAt("video")];
  const order = { model: "kling-video-o1", mode: "mixref2video", references, generateAudio: true } as const;
  assertEquals((await sent(order)).fields, {
    mode: "std",
    image_list: [{ image_url: "AAAA" }],
    video_list: [{ video_url: "https://example.invalid/video", refer_type: "feature" }],
    sound: "off",
  });
  const failure = await withAnswers(
    [],
    ({ outbound }) =>
      assertRejects(
        () => klingVideos(outbound).create(videoOrder({ mode: "mixref2video", references })),
        UpstreamFailure,
      ),
  );
  assertEquals([failure.kind, failure.facts.accepted], ["invalid", "no"]);
});

Deno.test("Kling videos: unsupported fields are named as dropped", () =>
  withAnswers([], ({ outbound }) => {
    const dropped = (order: Partial<VideoOrder>) => klingVideos(outbound).droppedFields!(videoOrder(order));
    assertEquals(dropped({ generateAudio: true, aspectRatio: "16:9" }), []);
    assertEquals(dropped({ seed: 7 }), ["seed"]);
    const frame = { mode: "img2video", firstFrame: mediaAt("image"), aspectRatio: "16:9" } as const;
    assertEquals(dropped(frame), ["aspect_ratio"]);
    assertEquals(dropped({ mode: "imgref2video", generateAudio: true }), ["generate_audio"]);
    const mixed = { model: "kling-v3-omni", mode: "mixref2video", references: [mediaAt("video")] } as const;
    assertEquals(dropped({ ...mixed, generateAudio: true }), ["generate_audio", "duration"]);
    return Promise.resolve();
  }));

Deno.test("Kling videos: options are sent, and the request's own fields take precedence", async () => {
  const options = { negative_prompt: "fog", duration: "10", external_task_id: "theirs" };
  const { fields } = await sent({ options });
  assertEquals([fields.negative_prompt, fields.duration], ["fog", "5"]);
});

Deno.test("Kling videos: images are sent as URLs or base64, videos as URLs, and audio is not supported", () =>
  withAnswers([], ({ outbound }) => {
    assertEquals(klingVideos(outbound).mediaForms, {
      image: ["url", "base64"],
      imageTypes: ["image/jpeg", "image/png"],
      audio: [],
      video: ["url"],
    });
    return Promise.resolve();
  }));

Deno.test("Kling videos: a job is polled below the path of its creation", () =>
  withAnswers([job("processing")], async ({ outbound, vendor }) => {
    await klingVideos(outbound).poll({ id: "a/b", place: "omni-video" });
    assertEquals(vendor.seen[0]?.path, "/v1/videos/omni-video/a%2Fb");
  }));

Deno.test("Kling videos: the error code decides the failure, even with status 200", async () => {
  const kindOf = (code: number, status: number) =>
    withAnswers([{ status, body: error(code, "no") }], async ({ outbound }) => {
      const { kind, facts } = await assertRejects(() => klingVideos(outbound).create(videoOrder()), UpstreamFailure);
      return [kind, facts.accepted];
    });
  for (const status of [200, 429]) {
    assertEquals(await kindOf(1102, status), ["unavailable", "no"]);
    assertEquals(await kindOf(1303, status), ["rate_limited", "no"]);
    assertEquals(await kindOf(1304, status), ["forbidden", "no"]);
  }
  assertEquals(await kindOf(1004, 200), ["auth", "no"]);
  assertEquals(await kindOf(1201, 200), ["invalid", "no"]);
  assertEquals(await kindOf(5000, 200), ["unavailable", "unknown"]);
  assertEquals(await kindOf(9999, 200), ["unavailable", "unknown"]);
});

Deno.test("Kling videos: a job whose creation had no response is found by the task id only", async () => {
  const found = (answer: ReturnType<typeof ok>, order: Partial<VideoOrder> = {}) =>
    withAnswers([answer], async ({ outbound, vendor }) => {
      const handle = await klingVideos(outbound).find!(videoOrder(order), 0);
      return [itemAt(vendor.seen, 0).path, handle];
    });
  const ours = job("processing", { task_info: { external_task_id: ID } });
  assertEquals(await found(ours), [`/v1/videos/text2video/${ID}`, JOB]);
  assertEquals(await found(ours, { mode: "img2video" }), [
    `/v1/videos/image2video/${ID}`,
    { ...JOB, place: "image2video" },
  ]);
  assertEquals((await found(job("processing", { task_info: { external_task_id: "another" } })))[1], null);
  assertEquals((await found(ok(envelope(null))))[1], null);
  assertEquals((await found({ status: 404, body: error(1203, "task not found") }))[1], null);
  assertEquals((await found(ok(error(1203, "task not found"))))[1], null);
  await assertRejects(() => found({ status: 503, body: error(5001, "later") }), UpstreamFailure);
});

Deno.test("Kling's probe reads a rejected key in a status 200 response", async () => {
  const probe = (answer: ReturnType<typeof ok>) =>
    withAnswers([answer], async ({ outbound, vendor }) => {
      await kling.probe(outbound, new AbortController().signal);
      return itemAt(vendor.seen, 0).path;
    });
  assertEquals(await probe(ok(envelope([]))), "/v1/videos/text2video?pageNum=1&pageSize=1");
  const failure = await assertRejects(() => probe(ok(error(1002, "access key not found"))), UpstreamFailure);
  assertEquals(failure.kind, "auth");
});

Deno.test({
  name: "Kling videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const play = <T>(name: string, ask: (videos: ReturnType<typeof klingVideos>) => Promise<T>) =>
      withAnswers([recordedAnswer(`kling/${name}`)!], ({ outbound }) => ask(klingVideos(outbound)));
    const create = (name: string) => play(name, (videos) => videos.create(videoOrder()));
    assertEquals(await create("create-submitted"), { id: "task-abc-123", place: "text2video" });
    const refused = async (name: string) => {
      const { kind, facts } = await assertRejects(() => create(name), UpstreamFailure);
      return [kind, facts.isContentRefusal ?? false, facts.accepted];
    };
    assertEquals(await refused("shape-create-auth"), ["auth", false, "no"]);
    assertEquals(await refused("shape-create-concurrency"), ["rate_limited", false, "no"]);
    assertEquals(await refused("shape-create-content-policy"), ["invalid", true, "no"]);
    const done = await play("shape-poll-succeed-duration-string", (videos) => videos.poll(JOB));
    assertEquals(done, {
      status: "completed",
      results: [{ url: "https://example.invalid/out.mp4", needsCredential: false }],
      consumption: { seconds: 5.1, costUsd: null },
    });
  },
});
