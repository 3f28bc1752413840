import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type { GeneratedImage, ImageOrder } from "../../../src/vendors/upstreams/contract/image_upstream.ts";
import { replicateImages } from "../../../src/vendors/upstreams/replicate/images.ts";
import { imageJobContract } from "../../contract/image_job.ts";
import { itemAt } from "../../support/items.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { whileAdvancing } from "../../support/advancing_clock.ts";
import { ok, type VendorAnswer, withAnswers } from "../../support/vendor_stage.ts";
import { CALL, imageOf, orderOf, RECORDED, recordedAnswer } from "../vendor.ts";

const FIRST = "https://replicate.example/out-0.webp";
const SECOND = "https://replicate.example/out-1.webp";
const prediction = (status: string, fields: Record<string, unknown> = {}) => ({
  id: "p-1",
  status,
  output: null,
  ...fields,
});
const created: VendorAnswer = { status: 201, body: prediction("starting", { error: null, data_removed: false }) };
const succeeded = ok(prediction("succeeded", { output: [FIRST] }));
const imageAt = (url: string): GeneratedImage => ({ result: { kind: "url", url }, mediaType: null });
const SENSITIVE = "The input or output was flagged as sensitive. Please try again with different inputs. (E005)";

imageJobContract("replicate", {
  open: replicateImages,
  basePath: "/v1",
  order: orderOf({ model: "black-forest-labs/flux-schnell" }),
  editor: "black-forest-labs/flux-kontext-pro",
  successes: [
    { answers: [created, succeeded], images: [imageAt(FIRST)] },
    { answers: [{ status: 201, body: prediction("processing", { output: FIRST }) }], images: [imageAt(FIRST)] },
    {
      answers: [{ status: 201, body: prediction("succeeded", { output: [FIRST, SECOND] }) }],
      images: [
        imageAt(FIRST),
        imageAt(SECOND),
      ],
    },
    {
      answers: [{ status: 201, body: prediction("succeeded", { output: "data:image/png;base64,AAAA" }) }],
      images: [{ result: { kind: "base64", data: "AAAA" }, mediaType: "image/png" }],
    },
  ],
  emptySuccesses: [
    [created, ok(prediction("succeeded"))],
    [created, ok(prediction("succeeded", { output: [] }))],
    [created, ok(prediction("succeeded", { output: [""], data_removed: true }))],
    [created, ok(prediction("succeeded", { output: { text: "no file" } }))],
    [ok({ id: "", status: "starting" })],
  ],
  contentRefusals: [
    [created, ok(prediction("failed", { error: SENSITIVE }))],
    [{ status: 201, body: prediction("failed", { error: "NSFW content detected. Try running it again." }) }],
    [{ status: 422, body: { title: "Input validation failed", detail: "The prompt was moderated" } }],
  ],
  refusal: (detail) => ({ title: "Failed", detail: `${detail}\n`, status: 400 }),
  edits: "without_mask",
  created,
  pending: ok(prediction("processing", { output: [] })),
  done: [succeeded],
  cancelled: ok(prediction("canceled")),
});

async function play(answers: readonly VendorAnswer[], order: Partial<ImageOrder>) {
  return await withAnswers(answers, async ({ outbound, vendor }) => {
    const clock = new ManualClock();
    const outcome = await whileAdvancing(clock, () => replicateImages(outbound, clock).generate(orderOf(order), CALL));
    return { outcome, seen: vendor.seen };
  });
}

async function sent(order: Partial<ImageOrder>) {
  const { seen } = await play([succeeded], order);
  return { path: itemAt(seen, 0).path, headers: itemAt(seen, 0).headers, body: JSON.parse(itemAt(seen, 0).body) };
}

const URI = "data:image/png;base64,AQI=";
const VERSION = "5599ed30703defd1d160a25a63321b4dec97101d98b4674bcc56e41f62f35637";

for (
  const [model, path, version] of [
    ["black-forest-labs/flux-schnell", "/models/black-forest-labs/flux-schnell/predictions", undefined],
    [`bytedance/sdxl-lightning-4step:${VERSION}`, "/predictions", VERSION],
    [VERSION, "/predictions", VERSION],
    ["owner/name:short", "/predictions", "short"],
  ] as const
) {
  Deno.test(`Replicate images: requests to ${model.slice(0, 40)} are sent to ${path}`, async () => {
    const { path: seen, body } = await sent({ model });
    assertEquals([seen, body], [path, { ...version && { version }, input: { prompt: "A fox" } }]);
  });
}

Deno.test("Replicate images: the request waits for its image and sets a deadline", async () => {
  const { headers } = await sent({ model: "black-forest-labs/flux-schnell" });
  assertEquals([headers.get("prefer"), headers.get("cancel-after")], ["wait=30", "600s"]);
});

for (
  const [model, order, input] of [
    ["black-forest-labs/flux-schnell", { size: "1792x1024", outputFormat: "jpeg" }, {
      aspect_ratio: "16:9",
      output_format: "jpg",
    }],
    ["black-forest-labs/flux-2-pro", { images: [imageOf([1, 2])] }, {
      input_images: [URI],
      aspect_ratio: "match_input_image",
    }],
    ["black-forest-labs/flux-kontext-pro", { images: [imageOf([1, 2])], size: "1024x1536" }, {
      input_image: URI,
      aspect_ratio: "2:3",
    }],
    ["google/nano-banana-2", { images: [imageOf([1, 2]), imageOf([1, 2])], outputFormat: "webp" }, {
      image_input: [URI, URI],
      aspect_ratio: "match_input_image",
    }],
    ["openai/gpt-image-1.5", { quality: "high", background: "opaque", size: "1792x1024" }, {
      quality: "high",
      background: "opaque",
      aspect_ratio: "3:2",
    }],
    ["someone/new-model", { images: [imageOf([1, 2])], quality: "high", outputFormat: "png" }, { image: URI }],
  ] as const
) {
  Deno.test(`Replicate images: ${model} receives its own fields`, async () => {
    const { body } = await sent({ model, ...order } as Partial<ImageOrder>);
    assertEquals(body, { input: { prompt: "A fox", ...input } });
  });
}

Deno.test("Replicate images: a large image is uploaded first and sent as a URL", async () => {
  const address = "https://api.replicate.example/v1/files/f-1";
  const upload = { status: 201, body: { id: "f-1", urls: { get: address } } };
  const bytes = new Uint8Array(65_537).fill(65);
  const order = { model: "black-forest-labs/flux-2-pro", images: [imageOf(bytes), imageOf([1, 2])] };
  const { seen } = await play([upload, succeeded], order);
  assertEquals(seen.map(({ method, path }) => `${method} ${path}`), [
    "POST /files",
    "POST /models/black-forest-labs/flux-2-pro/predictions",
  ]);
  assertStringIncludes(itemAt(seen, 0).body, 'name="content"; filename="media.png"');
  assertStringIncludes(itemAt(seen, 0).body, "A".repeat(65_537));
  assertEquals(JSON.parse(itemAt(seen, 1).body).input.input_images, [address, URI]);
});

Deno.test("Replicate images: no prediction is created if an upload fails", async () => {
  for (const answer of [{ status: 500, body: "" }, { status: 504, body: "" }, ok({ id: "f-1" })]) {
    const failure = await withAnswers([answer], ({ outbound }) => {
      const order = orderOf({ model: "owner/name", images: [imageOf(new Uint8Array(65_537))] });
      const images = replicateImages(outbound, new ManualClock());
      return assertRejects(() => images.generate(order, CALL), UpstreamFailure);
    });
    assertEquals(failure.facts.accepted, "no");
  }
});

Deno.test("Replicate images: unsupported images are rejected before a request is sent", async () => {
  const refused = (model: string, count: number) =>
    withAnswers([], async ({ outbound }) => {
      const order = orderOf({ model, images: Array(count).fill(imageOf([1])) });
      const images = replicateImages(outbound, new ManualClock());
      const failure = await assertRejects(() => images.generate(order, CALL), UpstreamFailure);
      return [failure.kind, failure.facts.accepted, failure.message];
    });
  assertEquals(await refused("black-forest-labs/flux-schnell", 1), [
    "invalid",
    "no",
    '"black-forest-labs/flux-schnell" does not support input images',
  ]);
  assertEquals(await refused("black-forest-labs/flux-kontext-max", 2), [
    "invalid",
    "no",
    '"black-forest-labs/flux-kontext-max" supports at most one input image',
  ]);
});

for (const status of ["canceled", "aborted"]) {
  Deno.test(`Replicate images: a prediction in the state ${status} is a failure`, async () => {
    const failure = await withAnswers([created, ok(prediction(status))], ({ outbound }) => {
      const clock = new ManualClock();
      const images = replicateImages(outbound, clock);
      return whileAdvancing(clock, () => assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure));
    });
    assertEquals([failure.kind, failure.facts.accepted], ["unavailable", "no"]);
  });
}

for (
  const name of [
    "post-v1_models_black-forest-labs_flux-dev_predictions-201-1",
    "post-v1_models_black-forest-labs_flux-schnell_predictions-201-1",
    "post-v1_predictions-201-2",
    "post-v1_predictions-201-3",
  ]
) {
  Deno.test({
    name: `Replicate images: the recorded response ${name} already contains its output (skipped without recordings)`,
    ignore: !RECORDED,
    fn: async () => {
      const answer = recordedAnswer(`replicate/${name}`) as VendorAnswer;
      const { output } = answer.body as { output: string | string[] };
      const { outcome } = await play([answer], {});
      assertEquals(outcome.images, [imageAt(Array.isArray(output) ? itemAt(output, 0) : output)]);
    },
  });
}

Deno.test({
  name: "Replicate images: recorded and documented failures keep their messages (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    const failed = (name: string, before: readonly VendorAnswer[] = []) =>
      withAnswers([...before, recordedAnswer(`replicate/${name}`) as VendorAnswer], ({ outbound }) => {
        const clock = new ManualClock();
        const images = replicateImages(outbound, clock);
        return whileAdvancing(clock, () => assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure));
      });
    const refused = await failed("post-v1_models_black-forest-labs_flux-schnell_predictions-422-1");
    assertEquals([refused.kind, refused.message], ["invalid", "- Additional property provider is not allowed"]);
    const throttled = await failed("shape-throttled");
    assertEquals([throttled.kind, throttled.facts.retryAfterSeconds], ["rate_limited", 30]);
    assertEquals((await failed("shape-failed-sensitive", [created])).facts.isContentRefusal, true);
  },
});
