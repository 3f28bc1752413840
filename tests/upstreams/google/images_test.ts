import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { googleImages } from "../../../src/vendors/upstreams/google/images.ts";
import { NO_CONSUMPTION } from "../../../src/vendors/upstreams/shared/images/image_reply.ts";
import { imageUpstreamContract } from "../../contract/image_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { ok } from "../../support/vendor_stage.ts";
import { CALL, imageOf, orderOf, RECORDED, recordedAnswer, VENDOR_KEY, withImageVendor } from "../vendor.ts";

imageUpstreamContract("google", {
  open: googleImages,
  basePath: "",
  order: orderOf({ model: "gemini-3-pro-image" }),
  successes: [{
    answers: [ok({
      candidates: [{
        content: {
          parts: [
            { thought: true, inlineData: { mimeType: "image/png", data: "BBBB" } },
            { text: "Here" },
            { inlineData: { mimeType: "image/jpeg", data: "AAAA" } },
          ],
        },
        finishReason: "STOP",
      }],
    })],
    images: [{ result: { kind: "base64", data: "AAAA" }, mediaType: "image/jpeg" }],
  }],
  emptySuccesses: [[ok({})], [ok({ candidates: [] })], [ok({ candidates: [{ content: { parts: [] } }] })]],
  contentRefusals: [
    [ok({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })],
    [ok({ candidates: [{ finishReason: "IMAGE_SAFETY" }] })],
  ],
  refusal: (message) => ({ error: { code: 400, message, status: "SOMETHING" } }),
  edits: "none",
});

const INPUT_IMAGE = { inlineData: { mimeType: "image/jpeg", data: "AAAA" } };
const answerOf = (parts: readonly unknown[], more: Record<string, unknown> = {}) => ({
  body: { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", ...more }] },
});

Deno.test("Gemini images: images precede the prompt, and only images are requested", async () => {
  await withImageVendor("google", answerOf([INPUT_IMAGE]), async (images, seen) => {
    const order = orderOf({
      model: "gemini-3-pro-image",
      quality: "hd",
      outputFormat: "png",
      background: "transparent",
      images: [imageOf([1, 2, 3, 4], "image/png"), imageOf([5], "image/webp")],
    });
    await images.generate(order, CALL);
    assertEquals(seen[0]?.path, "/base/v1beta/models/gemini-3-pro-image:generateContent");
    assertEquals(itemAt(seen, 0).headers.get("x-goog-api-key"), VENDOR_KEY);
    assertEquals(seen[0]?.json, {
      contents: [{
        role: "user",
        parts: [
          { inlineData: { mimeType: "image/png", data: "AQIDBA==" } },
          { inlineData: { mimeType: "image/webp", data: "BQ==" } },
          { text: "A fox" },
        ],
      }],
      generationConfig: { responseModalities: ["IMAGE"] },
    });
  });
});

for (
  const [size, imageConfig] of [
    [null, undefined],
    ["auto", undefined],
    ["1024x1024", { aspectRatio: "1:1" }],
    ["1536x1024", { aspectRatio: "3:2" }],
    ["1024x1536", { aspectRatio: "2:3" }],
    ["1792x1024", { aspectRatio: "16:9" }],
    ["1024x1792", { aspectRatio: "9:16" }],
    ["512x512", { aspectRatio: "1:1", imageSize: "512" }],
    ["2048x2048", { aspectRatio: "1:1", imageSize: "2K" }],
    ["4096x2304", { aspectRatio: "16:9", imageSize: "4K" }],
  ] as const
) {
  Deno.test(`Gemini images: the size ${size} is sent as ${JSON.stringify(imageConfig ?? "none")}`, async () => {
    await withImageVendor("google", answerOf([INPUT_IMAGE]), async (images, seen) => {
      await images.generate(orderOf({ size }), CALL);
      assertEquals(itemAt(seen, 0).json.generationConfig.imageConfig, imageConfig);
    });
  });
}

Deno.test("Gemini images: a size below the minimum is rejected without a request", async () => {
  await withImageVendor("google", answerOf([INPUT_IMAGE]), async (images, seen) => {
    const failure = await assertRejects(() => images.generate(orderOf({ size: "256x256" }), CALL), UpstreamFailure);
    assertEquals([failure.kind, failure.facts.field, seen.length], ["invalid", "size", 0]);
  });
});

for (
  const [name, mediaType, consumption] of [
    ["google-gemini/gemini-3-pro-image-text-and-image-1", "image/jpeg", [14, 1283 + 174, 337]],
    ["google-gemini/gemini-image-and-text-1", "image/png", [17, 1336, 46]],
    ["google-vertex/gemini-image-vertex-1", "image/png", [9, 1295, 5]],
  ] as const
) {
  Deno.test({
    name: `Gemini images: ${name} contains one image and its usage (skipped without recordings)`,
    ignore: !RECORDED,
    fn: async () => {
      await withImageVendor("google", recordedAnswer(name), async (images) => {
        const outcome = await images.generate(orderOf(), CALL);
        assertEquals(outcome.images.map(({ result, mediaType }) => [result.kind, mediaType]), [["base64", mediaType]]);
        const [textTokens, outputTokens, outputTextTokens] = consumption;
        assertEquals(outcome.consumption, { ...NO_CONSUMPTION, textTokens, outputTokens, outputTextTokens });
        assertEquals([outcome.size, outcome.quality, outcome.createdAt], [null, null, null]);
      });
    },
  });
}

Deno.test({
  name: "Gemini images: a text response is an error without the text (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("google", recordedAnswer("google-gemini/gemini-image-or-text-1"), async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.vendorCode], ["invalid", "NO_IMAGE"]);
      assertEquals(failure.message.includes("axolotl"), false);
    });
  },
});

Deno.test("Gemini images: drafts in thoughts and signatures of any length are dropped", async () => {
  const draft = { inlineData: { mimeType: "image/png", data: "DRAFT" }, thought: true };
  const signed = { ...INPUT_IMAGE, thoughtSignature: "s".repeat(1_100_000) };
  await withImageVendor("google", answerOf([draft, { text: "Here" }, signed]), async (images) => {
    const outcome = await images.generate(orderOf(), CALL);
    assertEquals(outcome.images, [{ result: { kind: "base64", data: "AAAA" }, mediaType: "image/jpeg" }]);
    assertEquals(outcome.consumption, null);
  });
});

Deno.test("Gemini images: usage distinguishes image and text input, and counts tools and thoughts", async () => {
  const usageMetadata = {
    promptTokenCount: 300,
    toolUsePromptTokenCount: 20,
    cachedContentTokenCount: 100,
    candidatesTokenCount: 1120,
    thoughtsTokenCount: 80,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 42 }, { modality: "IMAGE", tokenCount: 258 }],
  };
  await withImageVendor("google", { body: { ...answerOf([INPUT_IMAGE]).body, usageMetadata } }, async (images) => {
    assertEquals((await images.generate(orderOf(), CALL)).consumption, {
      textTokens: 62,
      imageTokens: 258,
      cachedTokens: 100,
      cachedImageTokens: 38,
      outputTokens: 1200,
      outputTextTokens: 80,
    });
  });
});

for (
  const [what, body, kind, word] of [
    ["a blocked prompt", { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, "invalid", "PROHIBITED_CONTENT"],
    ["IMAGE_SAFETY", { candidates: [{ finishReason: "IMAGE_SAFETY" }] }, "invalid", "IMAGE_SAFETY"],
    ["NO_IMAGE", { candidates: [{ content: {}, finishReason: "NO_IMAGE" }] }, "invalid", "NO_IMAGE"],
    [
      "SAFETY beside a draft",
      {
        candidates: [{ content: { parts: [{ ...INPUT_IMAGE, thought: true }] }, finishReason: "SAFETY" }],
      },
      "invalid",
      "SAFETY",
    ],
    ["IMAGE_OTHER", { candidates: [{ finishReason: "IMAGE_OTHER" }] }, "unavailable", "IMAGE_OTHER"],
    ["nothing at all", {}, "broken", undefined],
    ["an empty end", { candidates: [{ content: { parts: [] }, finishReason: "STOP" }] }, "broken", undefined],
  ] as const
) {
  Deno.test(`Gemini images: ${what} in a status 200 response fails as ${kind}`, async () => {
    await withImageVendor("google", { body }, async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.vendorCode], [kind, word]);
      assertEquals(failure.facts.status, kind === "broken" ? 200 : null);
      assertEquals(failure.facts.isContentRefusal ?? false, kind === "invalid" && word !== "NO_IMAGE");
    });
  });
}

Deno.test("Gemini images: the vendor's message for a refusal is kept, without the key", async () => {
  const finishMessage = `Unable to show this image (key ${VENDOR_KEY})`;
  await withImageVendor("google", answerOf([], { finishReason: "IMAGE_SAFETY", finishMessage }), async (images) => {
    const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
    assertEquals(failure.message, "Unable to show this image (key [redacted])");
  });
});

Deno.test("Gemini images: an error status is kept", async () => {
  const error = { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "7s" }] };
  await withImageVendor("google", { status: 429, body: { error } }, async (images) => {
    const { kind, facts } = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
    assertEquals([kind, facts.vendorCode, facts.retryAfterSeconds], ["rate_limited", "RESOURCE_EXHAUSTED", 7]);
  });
});

Deno.test("Gemini images: it neither edits nor streams, and creates one image per request", async () => {
  await withImageVendor("google", { body: {} }, (images) => {
    assertEquals([images.edit, images.stream, images.maxPerCall], [null, null, 1]);
    return Promise.resolve();
  });
});
