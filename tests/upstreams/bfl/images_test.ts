import { assertEquals, assertRejects } from "@std/assert";
import { bflImages } from "../../../src/vendors/upstreams/bfl/images.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type { GeneratedImage, ImageOrder } from "../../../src/vendors/upstreams/contract/image_upstream.ts";
import { imageJobContract } from "../../contract/image_job.ts";
import { itemAt } from "../../support/items.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ok, withAnswers } from "../../support/vendor_stage.ts";
import { CALL, imageOf, orderOf, RECORDED, recordedAnswer } from "../vendor.ts";
import { whileAdvancing } from "../../support/advancing_clock.ts";

const SAMPLE = "https://delivery-us1.bfl.example/sample.jpeg";
const created = ok({ id: "job-1", polling_url: "https://elsewhere.example/v1/get_result?id=job-1", cost: null });
const ready = ok({ id: "job-1", status: "Ready", result: { sample: SAMPLE, seed: 1 }, progress: null });
const made = (mediaType: string | null): GeneratedImage[] => [{ result: { kind: "url", url: SAMPLE }, mediaType }];

imageJobContract("bfl", {
  open: bflImages,
  basePath: "/v1",
  order: orderOf({ model: "flux-2-pro" }),
  successes: [{ answers: [created, ready], images: made(null) }],
  emptySuccesses: [
    [created, ok({ status: "Ready", result: null })],
    [created, ok({ status: "Ready", result: { sample: "" } })],
    [ok({ id: "" })],
  ],
  contentRefusals: [
    [created, ok({ status: "Request Moderated", details: { "Moderation Reasons": ["Violence"] } })],
    [created, ok({ status: "Content Moderated", result: null })],
  ],
  refusal: (detail) => ({ detail }),
  edits: "without_mask",
  created,
  pending: ok({ id: "job-1", status: "Pending", result: null, progress: 0.6 }),
  done: [ready],
  cancelled: null,
});

async function sent(order: Partial<ImageOrder>) {
  return await withAnswers([created, ready], async ({ outbound, vendor }) => {
    const clock = new ManualClock();
    const outcome = await whileAdvancing(clock, () => bflImages(outbound, clock).generate(orderOf(order), CALL));
    return { path: itemAt(vendor.seen, 0).path, body: JSON.parse(itemAt(vendor.seen, 0).body), size: outcome.size };
  });
}

const sized = (width: number, height: number) => ({ ...imageOf([1, 2]), width, height });

Deno.test("FLUX: a request is sent to the model's own path", async () => {
  assertEquals(await sent({ model: "flux-2-pro", quality: "high", outputFormat: "webp" }), {
    path: "/flux-2-pro",
    body: { prompt: "A fox" },
    size: null,
  });
});

for (
  const [model, size, expected] of [
    ["flux-2-pro", "1792x1024", { width: 1792, height: 1024 }],
    ["flux-2-klein-4b", "1024x1024", { width: 1024, height: 1024 }],
    ["flux-pro-1.1", "1536x1024", { width: 1440, height: 960 }],
    ["flux-kontext-pro", "1536x1024", { aspect_ratio: "3:2" }],
    ["flux-kontext-max", "1024x1792", { aspect_ratio: "9:16" }],
    ["flux-pro-1.1-ultra", "1024x1024", { aspect_ratio: "1:1" }],
    ["flux-pro-1.1-ultra", "auto", {}],
  ] as const
) {
  Deno.test(`FLUX: for ${model} the size ${size} is sent as ${JSON.stringify(expected)}`, async () => {
    const { body, size: used } = await sent({ model, size });
    assertEquals(body, { prompt: "A fox", ...expected });
    assertEquals(used, "width" in expected ? `${expected.width}x${expected.height}` : null);
  });
}

Deno.test("FLUX: an edited image keeps its shape up to the area that its price covers", async () => {
  const shapeOf = async (width: number, height: number) => {
    const { body } = await sent({ model: "flux-2-pro", images: [sized(width, height)] });
    return [body.width, body.height];
  };
  assertEquals(await shapeOf(1000, 700), [992, 672]);
  assertEquals(await shapeOf(2048, 2048), [1440, 1440]);
  assertEquals(await shapeOf(2560, 1440), [1920, 1056]);
  const { body } = await sent({ model: "flux-kontext-pro", images: [sized(2560, 1440)] });
  assertEquals([body.width, body.aspect_ratio], [undefined, undefined]);
});

Deno.test("FLUX: images are sent as base64, each in its own field", async () => {
  const { body } = await sent({ model: "flux-2-pro", images: [imageOf([1, 2]), imageOf([3])], size: "1024x1024" });
  assertEquals([body.input_image, body.input_image_2], ["AQI=", "Aw=="]);
  assertEquals((await sent({ model: "flux-pro-1.1-ultra", images: [imageOf([3])] })).body.image_prompt, "Aw==");
});

Deno.test("FLUX: too many images and images above the priced size are rejected before a request is sent", async () => {
  const refused = (order: Partial<ImageOrder>) =>
    withAnswers([], async ({ outbound }) => {
      const images = bflImages(outbound, new ManualClock());
      const { kind, facts } = await assertRejects(() => images.generate(orderOf(order), CALL), UpstreamFailure);
      return [kind, facts.accepted, facts.field];
    });
  const refusal = ["invalid", "no", "image"];
  assertEquals(await refused({ model: "flux-pro-1.1", images: [imageOf([1]), imageOf([2])] }), refusal);
  assertEquals(await refused({ model: "flux-2-max", images: Array(9).fill(imageOf([1])) }), refusal);
  assertEquals(await refused({ model: "flux-2-max", images: [sized(2049, 2048)] }), refusal);
});

Deno.test("FLUX: the format is sent if the vendor supports it", async () => {
  await withAnswers([created, ready], async ({ outbound, vendor }) => {
    const clock = new ManualClock();
    const order = orderOf({ model: "flux-2-pro", outputFormat: "png" });
    const { images } = await whileAdvancing(clock, () => bflImages(outbound, clock).generate(order, CALL));
    assertEquals([images, JSON.parse(itemAt(vendor.seen, 0).body).output_format], [made("image/png"), "png"]);
  });
});

Deno.test("FLUX: a polling URL below the base URL is used, else the job is polled by its id", async () => {
  const polled = (address: (port: number) => string) => {
    const answers: { status: number; body: unknown }[] = [];
    return withAnswers(answers, async ({ outbound, vendor }) => {
      answers.push(ok({ id: "job 1", polling_url: address(vendor.port) }), ready);
      const clock = new ManualClock();
      await whileAdvancing(clock, () => bflImages(outbound, clock).generate(orderOf(), CALL));
      return itemAt(vendor.seen, 1).path;
    }, "/v1");
  };
  assertEquals(
    await polled((port) => `http://127.0.0.1:${port}/v1/us/get_result?id=job-1`),
    "/v1/us/get_result?id=job-1",
  );
  const byId = "/v1/get_result?id=job%201";
  assertEquals(await polled(() => "http://169.254.169.254/v1/get_result?id=job-1"), byId);
  assertEquals(await polled(() => "https://api.us1.bfl.ai/v1/get_result?id=job-1"), byId);
  assertEquals(await polled(() => "https://bfl.ai.evil.example/v1/get_result?id=job-1"), byId);
  assertEquals(await polled(() => "nonsense"), byId);
});

Deno.test("FLUX: a job has several pending states, and a job that is not found yet is polled again", async () => {
  const message = ["Task not found", "Pending", "Reasoning", "Generating", "Something new", "Task not found"];
  const answers = [created, ...message.map((status) => ok({ status })), ready];
  await withAnswers(answers, async ({ outbound }) => {
    const clock = new ManualClock();
    const { images } = await whileAdvancing(clock, () => bflImages(outbound, clock).generate(orderOf(), CALL));
    assertEquals(images, made(null));
  });
});

for (
  const [what, answers, kind, accepted, message] of [
    [
      "failed",
      [created, ok({ status: "Error" })],
      "unavailable",
      "no",
      'Provider "acme" failed to process the request',
    ],
    [
      "moderated",
      [created, ok({ status: "Content Moderated", details: { "Moderation Reasons": ["A", "B"] } })],
      "invalid",
      "no",
      "Content Moderated: A, B",
    ],
    [
      "lost",
      [created, ...Array(5).fill(ok({ status: "Task not found" }))],
      "unavailable",
      "unknown",
      "The vendor did not find the job",
    ],
    [
      "ordered with a bad key",
      [{ status: 403, body: { detail: "Not authenticated - Invalid Authentication" } }],
      "auth",
      "no",
      "Not authenticated - Invalid Authentication",
    ],
    [
      "ordered without credits",
      [{ status: 402, body: { detail: "Insufficient credits" } }],
      "unavailable",
      "no",
      "Insufficient credits",
    ],
  ] as const
) {
  Deno.test(`FLUX: a job that is ${what} is ${kind}`, async () => {
    const failure = await withAnswers(answers, ({ outbound }) => {
      const clock = new ManualClock();
      const images = bflImages(outbound, clock);
      return whileAdvancing(clock, () => assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure));
    });
    assertEquals([failure.kind, failure.facts.accepted, failure.message], [kind, accepted, message]);
  });
}

Deno.test({
  name: "FLUX: recorded responses lead to the image (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    for (const submitted of ["submit-null-cost", "submit-with-cost"]) {
      const names = [submitted, "get-v1_get_result-200-1", "video-generating", "get-v1_get_result-200-2"];
      const answers = names.map((name) => recordedAnswer(`bfl/${name}`)).map(({ body }) => ok(body));
      await withAnswers(answers, async ({ outbound }) => {
        const clock = new ManualClock();
        const { images } = await whileAdvancing(clock, () => bflImages(outbound, clock).generate(orderOf(), CALL));
        const { result } = itemAt(images, 0);
        assertEquals(result.kind === "url" && new URL(result.url).hostname, "delivery-us1.bfl.ai");
      });
    }
  },
});
