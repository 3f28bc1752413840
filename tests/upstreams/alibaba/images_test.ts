import { assertEquals, assertRejects } from "@std/assert";
import { qwenImages } from "../../../src/vendors/upstreams/alibaba/images.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { imageUpstreamContract } from "../../contract/image_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { ok } from "../../support/vendor_stage.ts";
import { CALL, imageOf, orderOf, withImageVendor } from "../vendor.ts";

const URL = "https://example.invalid/picture.png";
const made = (...content: object[]) => ({ output: { choices: [{ message: { role: "assistant", content } }] } });

imageUpstreamContract("Qwen", {
  open: qwenImages,
  basePath: "",
  order: orderOf({ model: "qwen-image-3.0" }),
  successes: [{
    answers: [ok(made({ text: "Here" }, { image: URL }))],
    images: [{ result: { kind: "url", url: URL }, mediaType: null }],
  }],
  emptySuccesses: [[ok({})], [ok({ output: null })], [ok({ output: { choices: [] } })], [ok(made({ image: "" }))]],
  contentRefusals: [
    [{ status: 400, body: { code: "DataInspectionFailed", message: "No" } }],
    [ok({ code: "DataInspectionFailed", message: "No" })],
  ],
  refusal: (message) => ({ code: "SomeNewWord", message }),
  edits: "without_mask",
});

Deno.test("Qwen-Image: images precede the prompt, sizes contain a star, and watermarks are off", async () => {
  await withImageVendor("alibaba", { body: made({ image: URL }) }, async (images, seen) => {
    const order = orderOf({ model: "qwen-image-3.0", size: "1536x1024", images: [imageOf([1, 2], "image/png")] });
    const { size } = await images.generate(order, CALL);
    assertEquals(seen[0]?.json, {
      model: "qwen-image-3.0",
      input: {
        messages: [{ role: "user", content: [{ image: "data:image/png;base64,AQI=" }, { text: "A fox" }] }],
      },
      parameters: { n: 1, watermark: false, size: "1536*1024" },
    });
    assertEquals(size, "1536x1024");
    await images.generate(orderOf({ size: "auto" }), CALL);
    assertEquals("size" in itemAt(seen, 1).json.parameters, false);
  });
});

Deno.test("Qwen-Image: a mask and a fourth image are rejected without a request", async () => {
  await withImageVendor("alibaba", { body: made({ image: URL }) }, async (images, seen) => {
    const image = imageOf([1]);
    const masked = await assertRejects(
      () => images.edit!(orderOf({ images: [image], mask: image }), CALL),
      UpstreamFailure,
    );
    const many = await assertRejects(
      () => images.generate(orderOf({ images: [image, image, image, image] }), CALL),
      UpstreamFailure,
    );
    assertEquals([masked.facts.field, many.facts.field, seen.length], ["mask", "image", 0]);
  });
});
