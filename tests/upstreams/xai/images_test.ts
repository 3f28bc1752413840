import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { xaiImages } from "../../../src/vendors/upstreams/xai/images.ts";
import { imageUpstreamContract } from "../../contract/image_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { ok } from "../../support/vendor_stage.ts";
import type { ImageOrder } from "../../../src/vendors/upstreams/contract/image_upstream.ts";
import { CALL, imageOf, orderOf, RECORDED, recordedAnswer, VENDOR_KEY, withImageVendor } from "../vendor.ts";

imageUpstreamContract("xai", {
  open: xaiImages,
  basePath: "/v1",
  order: orderOf({ model: "grok-imagine-image-2.0" }),
  successes: [{
    answers: [ok({ data: [{ b64_json: "AAAA", mime_type: "image/jpeg", respect_moderation: true }] })],
    images: [{ result: { kind: "base64", data: "AAAA" }, mediaType: "image/jpeg" }],
  }],
  emptySuccesses: [[ok({})], [ok({ data: [] })], [ok({ data: [{ url: null }] })]],
  contentRefusals: [
    [{ status: 400, body: { code: "invalid-argument", error: "Image rejected by content moderation." } }],
    [ok({ data: [{ url: null, respect_moderation: false }] })],
  ],
  refusal: (error) => ({ code: "invalid-argument", error }),
  edits: "without_mask",
});

const PLAIN = { data: [{ b64_json: "AAAA", mime_type: "image/jpeg" }] };

async function sentFor(order: Partial<ImageOrder>) {
  let sent: { path: string; json: Record<string, unknown> } | null = null;
  await withImageVendor("xai", { body: PLAIN }, async (images, seen) => {
    await images.generate(orderOf(order), CALL);
    sent = { path: itemAt(seen, 0).path, json: itemAt(seen, 0).json };
    assertEquals(seen[0]?.headers.get("authorization"), `Bearer ${VENDOR_KEY}`);
  });
  return sent!;
}

Deno.test("Grok Imagine: a request without a shape requests base64 and has no field that xAI rejects", async () => {
  assertEquals(await sentFor({ model: "grok-imagine-image", quality: "high", outputFormat: "png", size: "auto" }), {
    path: "/base/images/generations",
    json: { model: "grok-imagine-image", prompt: "A fox", response_format: "b64_json" },
  });
});

for (
  const [size, shape] of [
    ["1024x1024", ["1:1", undefined]],
    ["256x256", ["1:1", undefined]],
    ["1536x1024", ["3:2", undefined]],
    ["1024x1536", ["2:3", undefined]],
    ["1792x1024", ["16:9", undefined]],
    ["1024x1792", ["9:16", undefined]],
    ["2048x1024", ["2:1", "2k"]],
    ["900x1950", ["9:19.5", undefined]],
  ] as const
) {
  Deno.test(`Grok Imagine: size ${size} is ratio ${shape[0]}, resolution ${shape[1] ?? "left out"}`, async () => {
    const { json } = await sentFor({ size });
    assertEquals([json.aspect_ratio, json.resolution], [...shape]);
    assertEquals("size" in json, false);
  });
}

for (
  const [model, quality, sent] of [
    ["grok-imagine-image-2.0", "auto", undefined],
    ["grok-imagine-image-2.0", "low", "low"],
    ["grok-imagine-image-2.0", "standard", "medium"],
    ["grok-imagine-image-2.0", "hd", "high"],
    ["grok-imagine-image", "hd", undefined],
  ] as const
) {
  Deno.test(`Grok Imagine: ${model} is ${sent ? `asked for ${sent}` : "not told"} when ${quality} is wanted`, async () => {
    assertEquals((await sentFor({ model, quality })).json.quality, sent);
  });
}

Deno.test("Grok Imagine: images are sent to edits inside the JSON, one as an object or several as a list", async () => {
  const [first, second] = [imageOf([1, 2], "image/png"), imageOf([3], "image/jpeg")];
  const one = await sentFor({ images: [first], count: 2 });
  assertEquals(one, {
    path: "/base/images/edits",
    json: {
      model: "model-1",
      prompt: "A fox",
      image: { url: "data:image/png;base64,AQI=" },
      n: 2,
      response_format: "b64_json",
    },
  });
  const { json } = await sentFor({ images: [first, second] });
  assertEquals(json.images, [{ url: "data:image/png;base64,AQI=" }, { url: "data:image/jpeg;base64,Aw==" }]);
  assertEquals("image" in json, false);
});

Deno.test("Grok Imagine: an edit is sent the same way, and a mask is rejected without a request", async () => {
  await withImageVendor("xai", { body: PLAIN }, async (images, seen) => {
    await images.edit!(orderOf({ images: [imageOf([1])] }), CALL);
    assertEquals(seen[0]?.path, "/base/images/edits");
    const order = orderOf({ images: [imageOf([1])], mask: imageOf([2]) });
    const failure = await assertRejects(() => images.edit!(order, CALL), UpstreamFailure);
    assertEquals([failure.kind, failure.facts.field, seen.length], ["invalid", "mask", 1]);
  });
});

for (const name of ["xai/images-b64", "xai/images-revised-prompt"]) {
  Deno.test({
    name: `Grok Imagine: ${name} returns its image (skipped without recordings)`,
    ignore: !RECORDED,
    fn: async () => {
      await withImageVendor("xai", recordedAnswer(name), async (images) => {
        assertEquals(await images.generate(orderOf(), CALL), {
          createdAt: null,
          images: [{ result: { kind: "base64", data: "dGVzdA==" }, mediaType: null }],
          size: null,
          quality: null,
          consumption: null,
        });
      });
    },
  });
}

Deno.test({
  name: "Grok Imagine: an image that moderation rejected is a refusal (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("xai", recordedAnswer("xai/images-200-moderated"), async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.vendorCode], ["invalid", "respect_moderation"]);
      assertEquals([failure.facts.status, failure.facts.costUsd], [null, undefined]);
    });
  },
});

Deno.test({
  name: "Grok Imagine: a documented refusal keeps its message (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("xai", recordedAnswer("xai/images-400"), async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.message, failure.facts.status], ["invalid", "Invalid prompt", 400]);
    });
  },
});

Deno.test("Grok Imagine: accepted images are returned if moderation rejected others", async () => {
  const data = [{ url: null, respect_moderation: false }, {
    url: "https://media.example/2.jpg",
    respect_moderation: true,
  }];
  await withImageVendor("xai", { body: { data } }, async (images) => {
    const outcome = await images.generate(orderOf({ count: 2 }), CALL);
    assertEquals(outcome.images.map(({ result }) => result), [{ kind: "url", url: "https://media.example/2.jpg" }]);
  });
});

Deno.test("Grok Imagine: a billed refusal reports its cost, with either status", async () => {
  const usage = { cost_in_usd_ticks: 200_000_000 };
  const refused = { code: "invalid-argument", error: "Image rejected by content moderation.", usage };
  const held = { data: [{ respect_moderation: false }], usage };
  await withImageVendor("xai", [{ status: 400, body: refused }, { body: held }], async (images) => {
    for (const message of [refused.error, "The images were rejected by the vendor's content moderation"]) {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.message], ["invalid", message]);
      assertEquals([Number(failure.facts.costUsd), failure.facts.isContentRefusal], [0.02, true]);
    }
  });
});

Deno.test("Grok Imagine: a success without an image is broken", async () => {
  await withImageVendor("xai", { body: { data: [{ url: null }] } }, async (images) => {
    const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
    assertEquals([failure.kind, failure.facts.accepted], ["broken", "unknown"]);
  });
});
