import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { arkImages } from "../../../src/vendors/upstreams/ark/images.ts";
import { NO_CONSUMPTION } from "../../../src/vendors/upstreams/shared/images/image_reply.ts";
import { imageUpstreamContract } from "../../contract/image_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { ok } from "../../support/vendor_stage.ts";
import { CALL, imageOf, orderOf, RECORDED, recordedAnswer, VENDOR_KEY, withImageVendor } from "../vendor.ts";

imageUpstreamContract("ark", {
  open: arkImages,
  basePath: "/api/v3",
  order: orderOf({ model: "seedream-4-5-251128" }),
  successes: [{
    answers: [ok({ created: 1, data: [{ b64_json: "AAAA", size: "2048x2048" }] })],
    images: [{ result: { kind: "base64", data: "AAAA" }, mediaType: null }],
  }],
  emptySuccesses: [[ok({})], [ok({ data: [] })], [ok({ data: [{ url: "" }] })]],
  contentRefusals: [
    [{ status: 400, body: { error: { code: "InputTextSensitiveContentDetected", message: "No" } } }],
    [ok({ data: [{ error: { code: "OutputImageSensitiveContentDetected", message: "No" } }] })],
  ],
  refusal: (message) => ({ error: { code: "Something", message } }),
  edits: "without_mask",
});

const PLAIN = { model: "m", created: 1_793_491_200, data: [{ b64_json: "AAAA", size: "2048x2048" }] };

Deno.test("Seedream: a request has no watermark and requests base64", async () => {
  await withImageVendor("ark", { body: PLAIN }, async (images, seen) => {
    await images.generate(orderOf({ model: "seedream-4-5-251128", quality: "hd", outputFormat: "png" }), CALL);
    assertEquals(seen[0]?.path, "/base/images/generations");
    assertEquals(seen[0]?.headers.get("authorization"), `Bearer ${VENDOR_KEY}`);
    assertEquals(seen[0]?.json, {
      model: "seedream-4-5-251128",
      prompt: "A fox",
      response_format: "b64_json",
      watermark: false,
    });
  });
});

Deno.test("Seedream: references are sent as data: URIs, one as text or several as a list; an edit likewise", async () => {
  await withImageVendor("ark", { body: PLAIN }, async (images, seen) => {
    const [first, second] = [imageOf([1, 2], "image/png"), imageOf([3], "image/jpeg")];
    await images.generate(orderOf({ images: [first] }), CALL);
    await images.edit!(orderOf({ images: [first, second] }), CALL);
    assertEquals(seen[0]?.json.image, "data:image/png;base64,AQI=");
    assertEquals(seen[1]?.json.image, ["data:image/png;base64,AQI=", "data:image/jpeg;base64,Aw=="]);
  });
});

Deno.test("Seedream: a mask is rejected without a request", async () => {
  await withImageVendor("ark", { body: PLAIN }, async (images, seen) => {
    const order = orderOf({ images: [imageOf([1])], mask: imageOf([2]) });
    const failure = await assertRejects(() => images.edit!(order, CALL), UpstreamFailure);
    assertEquals([failure.kind, failure.facts.field, seen.length], ["invalid", "mask", 0]);
  });
});

for (
  const [model, size, sent] of [
    ["seedream-4-5-251128", null, undefined],
    ["seedream-4-5-251128", "auto", undefined],
    ["seedream-4-5-251128", "1024x1024", "2048x2048"],
    ["seedream-4-5-251128", "256x256", "2048x2048"],
    ["seedream-4-5-251128", "1536x1024", "2496x1664"],
    ["seedream-4-5-251128", "1024x1536", "1664x2496"],
    ["seedream-4-5-251128", "1792x1024", "2560x1440"],
    ["seedream-4-5-251128", "1024x1792", "1440x2560"],
    ["seedream-4-5-251128", "2048x2048", "2048x2048"],
    ["seedream-5-0-260128", "1024x1024", "2048x2048"],
    ["seedream-4-0-250828", "1024x1024", "1024x1024"],
    ["dola-seedream-5-0-pro-260628", "1792x1024", "1792x1024"],
    ["dola-seedream-5-0-pro-260628", "512x512", "2048x2048"],
    ["seedream-4-0-250828", "99999x100", "2560x1440"],
  ] as const
) {
  Deno.test(`Seedream: for ${model} the size ${size} is sent as ${sent ?? "none"}`, async () => {
    await withImageVendor("ark", { body: { data: [{ b64_json: "AAAA" }] } }, async (images, seen) => {
      const outcome = await images.generate(orderOf({ model, size }), CALL);
      assertEquals(itemAt(seen, 0).json.size, sent);
      assertEquals(outcome.size, sent ?? null);
    });
  });
}

for (
  const [model, outputFormat, sent] of [
    ["seedream-5-0-260128", "png", "png"],
    ["seedream-5-0-260128", "jpeg", "jpeg"],
    ["seedream-5-0-260128", "webp", undefined],
    ["seedream-4-0-250828", "png", undefined],
  ] as const
) {
  Deno.test(`Seedream: the format ${outputFormat} is ${sent ? "sent" : "not sent"} to ${model}`, async () => {
    await withImageVendor("ark", { body: PLAIN }, async (images, seen) => {
      const outcome = await images.generate(orderOf({ model, outputFormat }), CALL);
      assertEquals(itemAt(seen, 0).json.output_format, sent);
      assertEquals(itemAt(outcome.images, 0).mediaType, sent ? `image/${sent}` : null);
    });
  });
}

Deno.test({
  name: "Seedream: images without further fields are read (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("ark", recordedAnswer("ark/images-two"), async (images) => {
      const outcome = await images.generate(orderOf(), CALL);
      assertEquals(outcome.images.map(({ result }) => result), [
        { kind: "base64", data: "test1234" },
        { kind: "base64", data: "test5678" },
      ]);
      assertEquals([outcome.createdAt, outcome.size, outcome.consumption], [null, null, null]);
    });
  },
});

Deno.test({
  name: "Seedream: a failed entry does not fail the others (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("ark", recordedAnswer("ark/shape-images-partial-failure"), async (images) => {
      const outcome = await images.generate(orderOf(), CALL);
      assertEquals(outcome.images, [{
        result: { kind: "url", url: "https://example.invalid/1.jpeg" },
        mediaType: null,
      }]);
      assertEquals([outcome.createdAt, outcome.size], [1_793_491_200, "2848x1600"]);
      assertEquals(outcome.consumption, { ...NO_CONSUMPTION, outputTokens: 17_800 });
    });
  },
});

Deno.test({
  name: "Seedream: a documented refusal keeps its message (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("ark", recordedAnswer("ark/images-400-invalid-parameter"), async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.message], ["invalid", "Invalid prompt content"]);
      assertEquals([failure.facts.status, failure.facts.vendorCode], [400, "InvalidParameter"]);
    });
  },
});

for (
  const [status, code, kind] of [
    [400, "InputImageSensitiveContentDetected.PrivacyInformation", "invalid"],
    [401, "AuthenticationError", "auth"],
    [403, "AccountOverdueError", "unavailable"],
    [404, "ModelNotOpen", "forbidden"],
    [404, "InvalidEndpointOrModel.NotFound", "forbidden"],
    [429, "ModelAccountRpmRateLimitExceeded", "rate_limited"],
    [429, "ServerOverloaded", "rate_limited"],
    [500, "InternalServiceError", "unavailable"],
    [400, "SomethingNew", "invalid"],
  ] as const
) {
  Deno.test(`Seedream: ${status} ${code} is ${kind}`, async () => {
    await withImageVendor("ark", { status, body: { error: { code, message: "Said" } } }, async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.status, failure.facts.vendorCode], [kind, status, code]);
      assertEquals(failure.facts.isContentRefusal, code.includes("Sensitive"));
    });
  });
}

for (
  const [what, body, kind, word] of [
    [
      "of the whole",
      { data: null, error: { code: "OutputImageSensitiveContentDetected", message: "No" } },
      "invalid",
      "No",
    ],
    [
      "of its picture",
      { data: [{ error: { code: "InputTextSensitiveContentDetected", message: "No" } }] },
      "invalid",
      "No",
    ],
    ["of the vendor", { data: [{ error: { code: "InternalServiceError", message: "Oops" } }] }, "unavailable", "Oops"],
    ["without a word", { data: [{ error: {} }] }, "unavailable", 'Provider "vendor" failed to process the request'],
    ["without anything", {}, "broken", 'Provider "vendor" returned an invalid response'],
  ] as const
) {
  Deno.test(`Seedream: a failure ${what} in a status 200 response is ${kind}`, async () => {
    await withImageVendor("ark", { body }, async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.message, failure.facts.status], [kind, word, kind === "broken" ? 200 : null]);
    });
  });
}

Deno.test("Seedream: nulls in the usage count as zero", async () => {
  const usage = { generated_images: 1, output_tokens: null, total_tokens: null };
  await withImageVendor("ark", { body: { ...PLAIN, usage } }, async (images) => {
    assertEquals((await images.generate(orderOf(), CALL)).consumption, null);
    assertEquals([images.stream, images.maxPerCall], [null, 1]);
  });
});
