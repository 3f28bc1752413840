import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { falImages } from "../../../src/vendors/upstreams/fal/images.ts";
import type {
  GeneratedImage,
  ImageOrder,
  ImageOutcome,
} from "../../../src/vendors/upstreams/contract/image_upstream.ts";
import { imageJobContract } from "../../contract/image_job.ts";
import { itemAt } from "../../support/items.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { whileAdvancing } from "../../support/advancing_clock.ts";
import { ok, type VendorAnswer, withAnswers } from "../../support/vendor_stage.ts";
import { CALL, imageOf, orderOf, RECORDED, recordedAnswer } from "../vendor.ts";

const URL = "https://v3.fal.example/files/1.png";
const created = ok({ request_id: "r-1", queue_position: 0 });
const ended = ok({ status: "COMPLETED", request_id: "r-1", logs: null });
const result = ok({ images: [{ url: URL, width: 1024, height: 768, content_type: "image/png" }], seed: 1 });
const made: GeneratedImage[] = [{ result: { kind: "url", url: URL }, mediaType: "image/png" }];
const detail = (type: string, msg: string) => ({ detail: [{ loc: ["body"], msg, type }] });
const black = (count: number) => ({
  images: Array(count).fill({ url: URL, content_type: "image/png" }),
  has_nsfw_concepts: Array(count).fill(true),
});

imageJobContract("fal", {
  open: falImages,
  basePath: "",
  order: orderOf({ model: "fal-ai/flux-2-pro" }),
  successes: [
    { answers: [created, ended, result], images: made },
    {
      answers: [created, ended, ok({ image: { url: URL, width: null, height: null, file_size: null } })],
      images: [{ result: { kind: "url", url: URL }, mediaType: null }],
    },
    {
      answers: [created, ended, ok({ images: ["data:image/jpeg;base64,AAAA"] })],
      images: [{ result: { kind: "base64", data: "AAAA" }, mediaType: "image/jpeg" }],
    },
    {
      answers: [created, ended, ok({ images: [{ url: URL }, { url: `${URL}?2` }], has_nsfw_concepts: [true, false] })],
      images: [{ result: { kind: "url", url: `${URL}?2` }, mediaType: null }],
    },
  ],
  emptySuccesses: [
    [created, ended, ok({})],
    [created, ended, ok({ images: [] })],
    [created, ended, ok({ image: { url: "" } })],
    [ok({ request_id: "" })],
  ],
  contentRefusals: [
    [{ status: 422, body: detail("content_policy_violation", "Flagged") }],
    [created, ended, { status: 422, body: detail("content_policy_violation", "Flagged") }],
    [created, ended, ok(black(1))],
    [created, ended, ok({ image: { url: URL }, nsfw_content_detected: [true] })],
    [created, ok({ status: "COMPLETED", error: "Flagged", error_type: "content_policy_violation" })],
  ],
  refusal: (message) => detail("value_error", message),
  resentStatuses: [502, 503, 504],
  edits: "without_mask",
  created,
  pending: { status: 202, body: { status: "IN_PROGRESS" } },
  done: [ended, result],
  cancelled: { status: 202, body: { status: "CANCELLATION_REQUESTED" } },
});

async function play(answers: readonly VendorAnswer[], order: Partial<ImageOrder>) {
  return await withAnswers(answers, async ({ outbound, vendor }) => {
    const clock = new ManualClock();
    const outcome = await whileAdvancing(clock, () => falImages(outbound, clock).generate(orderOf(order), CALL));
    return { outcome, seen: vendor.seen };
  });
}

async function sent(order: Partial<ImageOrder>) {
  const { seen } = await play([created, ended, result], order);
  return { path: itemAt(seen, 0).path, body: JSON.parse(itemAt(seen, 0).body) };
}

const sized = (width: number, height: number) => ({ ...imageOf([1, 2]), width, height });
const URI = "data:image/png;base64,AQI=";

for (
  const [what, order, path, body] of [
    ["words", { size: "1792x1024" }, "/fal-ai/flux-2-pro", { image_size: { width: 1792, height: 1024 } }],
    [
      "a picture, by its list, in its own shape",
      { images: [sized(4000, 3000)], outputFormat: "png" },
      "/fal-ai/flux-2-pro/edit",
      { image_urls: [URI], image_size: { width: 1664, height: 1248 }, output_format: "png" },
    ],
    [
      "words, by a ratio",
      { model: "fal-ai/flux-pro/kontext", size: "1024x1536" },
      "/fal-ai/flux-pro/kontext/text-to-image",
      { aspect_ratio: "2:3", num_images: 1 },
    ],
    [
      "a picture alone",
      { model: "fal-ai/flux-pro/kontext", images: [sized(8, 8)] },
      "/fal-ai/flux-pro/kontext",
      { image_url: URI, num_images: 1 },
    ],
    [
      "several pictures",
      { model: "fal-ai/flux-pro/kontext", images: [sized(8, 8), sized(8, 8)] },
      "/fal-ai/flux-pro/kontext/multi",
      { image_urls: [URI, URI], num_images: 1 },
    ],
    [
      "words, in a size that the model lists",
      { model: "fal-ai/gpt-image-1.5", size: "1792x1024", quality: "low", background: "transparent" },
      "/fal-ai/gpt-image-1.5",
      { image_size: "1536x1024", quality: "low", background: "transparent", num_images: 1 },
    ],
    [
      "words, behind a verb",
      { model: "fal-ai/bytedance/seedream/v4.5", outputFormat: "webp", quality: "low" },
      "/fal-ai/bytedance/seedream/v4.5/text-to-image",
      { num_images: 1 },
    ],
    [
      "a picture of a model that nobody has described",
      { model: "someone/new-model/paint", images: [sized(64, 64)], size: "1024x1024" },
      "/someone/new-model/paint",
      { image_urls: [URI], image_size: { width: 1024, height: 1024 } },
    ],
  ] as const
) {
  Deno.test(`fal images: ${"model" in order ? order.model : "FLUX.2"} receives ${what}`, async () => {
    const sending = await sent({ model: "fal-ai/flux-2-pro", ...order } as Partial<ImageOrder>);
    assertEquals(sending, { path, body: { prompt: "A fox", ...body } });
  });
}

Deno.test("fal images: unsupported input is rejected before a request is sent", async () => {
  const refused = (order: Partial<ImageOrder>) =>
    withAnswers([], async ({ outbound }) => {
      const images = falImages(outbound, new ManualClock());
      const failure = await assertRejects(() => images.generate(orderOf(order), CALL), UpstreamFailure);
      return [failure.kind, failure.facts.accepted, failure.message];
    });
  assertEquals(await refused({ model: "fal-ai/imagen4/preview", images: [imageOf([1])] }), [
    "invalid",
    "no",
    '"fal-ai/imagen4/preview" does not support input images',
  ]);
  assertEquals(await refused({ model: "fal-ai/qwen-image-edit", images: [imageOf([1]), imageOf([2])] }), [
    "invalid",
    "no",
    '"fal-ai/qwen-image-edit" supports at most one input image',
  ]);
  assertEquals(await refused({ model: "fal-ai/gemini-flash-edit" }), [
    "invalid",
    "no",
    '"fal-ai/gemini-flash-edit" requires an input image',
  ]);
});

Deno.test("fal images: the size is that of the image if the vendor reports it", async () => {
  const sizeOf = async (file: unknown) => {
    const { outcome } = await play([created, ended, ok({ images: [file] })], {});
    return outcome.size;
  };
  assertEquals(await sizeOf({ url: URL, width: 3840, height: 2160 }), "3840x2160");
  assertEquals(await sizeOf({ url: URL, width: null, height: null }), null);
  assertEquals(await sizeOf({ url: URL, width: 0, height: 7.5 }), null);
});

Deno.test("fal images: status, result and cancel use the vendor's URLs, on its own host only", async () => {
  const answers: VendorAnswer[] = [];
  await withAnswers(answers, async ({ outbound, vendor }) => {
    const named = `http://127.0.0.1:${vendor.port}/owner/app/requests/r-1`;
    answers.push(ok({ request_id: "r-1", response_url: named }), ended, result);
    const clock = new ManualClock();
    await whileAdvancing(clock, () => falImages(outbound, clock).generate(orderOf({ model: "owner/app/a/b" }), CALL));
    assertEquals(vendor.seen.slice(1).map(({ path }) => path), [
      "/owner/app/requests/r-1/status",
      "/owner/app/requests/r-1",
    ]);
  });
  const elsewhere = ok({ request_id: "r-1", response_url: "https://elsewhere.example/x/y/requests/r-1" });
  const { seen } = await play([elsewhere, ended, result], { model: "owner/app/a/b" });
  assertEquals(seen[1]?.path, "/owner/app/requests/r-1/status");
});

for (
  const [what, answer, kind, accepted] of [
    ["refused for its form", { status: 422, body: detail("value_error", "Too big") }, "invalid", "no"],
    ["a failure of the model", { status: 500, body: { detail: "Boom" } }, "unavailable", "no"],
  ] as const
) {
  Deno.test(`fal images: a result that is ${what} ends the job`, async () => {
    const failure = await withAnswers([created, ended, answer], ({ outbound }) => {
      const clock = new ManualClock();
      const images = falImages(outbound, clock);
      return whileAdvancing(clock, () => assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure));
    });
    assertEquals([failure.kind, failure.facts.accepted], [kind, accepted]);
  });
}

Deno.test("fal images: a result that is not available yet is requested again", async () => {
  const early = { status: 400, body: { detail: "Request is still in progress" } };
  const { outcome } = await play([created, ended, early, ended, result], {});
  assertEquals(outcome.images, made);
});

for (
  const name of [
    "post-fal-ai_aura-flow-200-1",
    "post-fal-ai_fast-sdxl-200-1",
    "post-fal-ai_flux_schnell-200-1",
    "post-fal-ai_flux_schnell-200-2",
    "post-fal-ai_lora-200-1",
    "post-fal-ai_sana-200-1",
    "sync-full-image-object",
    "sync-null-width-height",
  ]
) {
  Deno.test({
    name: `fal images: the recorded result ${name} returns its image (skipped without recordings)`,
    ignore: !RECORDED,
    fn: async () => {
      const { body } = recordedAnswer(`fal/${name}`);
      const recorded = itemAt(
        (body as { images: { url: string; width: number | null; height: number | null }[] }).images,
        0,
      );
      const { outcome }: { outcome: ImageOutcome } = await play([created, ended, ok(body)], {});
      const { result } = itemAt(outcome.images, 0);
      assertEquals(result, { kind: "url", url: recorded.url });
      assertEquals(outcome.size, recorded.width === null ? null : `${recorded.width}x${recorded.height}`);
    },
  });
}

Deno.test({
  name: "fal images: recorded failures keep their messages (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    const failed = (name: string, before: readonly VendorAnswer[]) =>
      withAnswers([...before, recordedAnswer(`fal/${name}`) as VendorAnswer], ({ outbound }) => {
        const clock = new ManualClock();
        const images = falImages(outbound, clock);
        return whileAdvancing(clock, () => assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure));
      });
    const unknown = await failed("post-fal-ai_lora-422-2", [created, ended]);
    assertEquals([unknown.kind, unknown.message.slice(0, 15)], ["invalid", "Model directory"]);
    assertEquals((await failed("shape-queue-result-content-policy", [created, ended])).facts.isContentRefusal, true);
    assertEquals((await failed("queue-submit-empty-object", [])).facts.accepted, "unknown");
    assertEquals((await failed("queue-submit-400-error-object", [])).message, "Invalid prompt");
    assertEquals((await failed("post-wrong-app-404-plain-text", [])).facts.accepted, "no");
  },
});
