import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { transparentPixels } from "../../src/sandbox/pictures/pixels.ts";
import { encodeImage } from "../../src/sandbox/pictures/file.ts";
import { decodedImage, imageFile, type ImageGateway, pixelAt, startImageGateway } from "../images/image_gateway.ts";
import { itemAt } from "../support/items.ts";

const clientOf = ({ address, key }: ImageGateway) =>
  new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });

Deno.test("the openai package generates through the gateway and gets the documented fields", async () => {
  const gateway = await startImageGateway();
  try {
    const answer = await clientOf(gateway).images.generate({
      model: "sandbox/painter-1",
      prompt: "a red fox",
      quality: "low",
      size: "1536x1024",
      n: 2,
      output_format: "webp",
    });
    assertEquals(Object.keys(answer).sort(), ["created", "data", "model", "quality", "size", "usage"]);
    assertEquals(answer.data!.map((image) => Object.keys(image)), [["b64_json", "index"], ["b64_json", "index"]]);
    const { type, width, height } = await decodedImage(itemAt(answer.data!, 1).b64_json!);
    assertEquals([type, width, height], ["image/webp", 1536, 1024]);
    assertEquals([answer.size, answer.quality], ["1536x1024", "low"] as unknown[]);
    assertEquals(answer.usage as unknown, {
      input_tokens: 3,
      input_tokens_details: { text_tokens: 3 },
      output_tokens: 816,
      total_tokens: 819,
    });
    // 3 × 0.000001 + 816 × 0.00001
    assertEquals(await gateway.balance(), "24.9918370000");
  } finally {
    await gateway.stop();
  }
});

Deno.test("the openai package streams partial images and the final one", async () => {
  const gateway = await startImageGateway();
  try {
    const stream = await clientOf(gateway).images.generate({
      model: "sandbox/painter-1",
      prompt: "a red fox",
      quality: "low",
      stream: true,
      partial_images: 2,
    });
    const events = [];
    for await (const event of stream) events.push(event);
    assertEquals(events.map(({ type }) => type), [
      "image_generation.partial_image",
      "image_generation.partial_image",
      "image_generation.completed",
    ]);
    const last = itemAt(events, 2);
    assert(last.type === "image_generation.completed");
    assertEquals((await decodedImage(last.b64_json)).width, 1024);
    assertEquals([last.size, last.quality, last.output_format], ["1024x1024", "low", "png"] as unknown[]);
    assertEquals(last.usage.total_tokens, 3 + 272 + 200);
    assertEquals(await gateway.balance(), "24.9952770000");
  } finally {
    await gateway.stop();
  }
});

Deno.test("the openai package edits several images with a mask", async () => {
  const gateway = await startImageGateway();
  try {
    const mask = transparentPixels(96, 96);
    for (let at = 3; at < mask.data.length; at += 4) mask.data[at] = at < mask.data.length / 2 ? 0 : 255;
    const first = await imageFile({ prompt: "first", width: 96, height: 96 });
    const second = await imageFile({ prompt: "second", width: 96, height: 96, format: "jpeg" });
    const answer = await clientOf(gateway).images.edit({
      model: "sandbox/painter-1",
      image: [await toFile(first, "a.png"), await toFile(second, "b.jpg")],
      mask: await toFile(await encodeImage(mask, "png"), "mask.png"),
      prompt: "a hat",
      quality: "medium",
      size: "auto",
      input_fidelity: "high",
    });
    assertEquals(answer.size as unknown, "auto");
    const usage = answer.usage as unknown as Record<string, unknown>;
    assertEquals(usage.num_input_images, 2);
    assertEquals(usage.input_tokens_details, { text_tokens: 2, image_tokens: 646 });
    const { pixels } = await decodedImage(itemAt(answer.data!, 0).b64_json!);
    const original = (await decodedImage(first.toBase64())).pixels;
    assertEquals(
      pixelAt(pixels, 500, 900),
      pixelAt(original, Math.floor(500 * 96 / 1024), Math.floor(900 * 96 / 1024)),
    );
    const body = itemAt(gateway.sandbox.requests, 0).body as Record<string, unknown>;
    assertEquals(body["image[]"], [
      { filename: "image_1.png", type: "image/png", bytes: first.length },
      { filename: "image_2.jpeg", type: "image/jpeg", bytes: second.length },
    ]);
    assertEquals([body.input_fidelity, body.quality, body.model], ["high", "medium", "gpt-image-1.5"]);
    // 2 × 0.000001 + 646 × 0.000002 + 1056 × 0.00001
    assertEquals(await gateway.balance(), "24.9881460000");
  } finally {
    await gateway.stop();
  }
});

Deno.test("the openai package streams an edit", async () => {
  const gateway = await startImageGateway();
  try {
    const stream = await clientOf(gateway).images.edit({
      model: "sandbox/painter-1",
      image: await toFile(await imageFile(), "a.png"),
      prompt: "a hat",
      quality: "low",
      stream: true,
      partial_images: 1,
    });
    const types = [];
    for await (const event of stream) types.push(event.type);
    assertEquals(types, ["image_edit.partial_image", "image_edit.completed"]);
  } finally {
    await gateway.stop();
  }
});

Deno.test("a multimodal model makes one image without its drafts, and streams it as one event", async () => {
  const gateway = await startImageGateway();
  try {
    const asked = { model: "sandbox/muse-1", prompt: "a pond", quality: "auto", size: "1792x1024" };
    const answer = await (await gateway.post("/v1/images/generations", asked)).json();
    assertEquals(answer.data.length, 1);
    const { type, width, height } = await decodedImage(answer.data[0].b64_json);
    assertEquals([type, `${width}x${height}`], ["image/jpeg", answer.size]);
    assertEquals(answer.usage.output_tokens, 1120);
    assertEquals("num_input_images" in answer.usage, false);
    const streamed = await (await gateway.post("/v1/images/generations", { ...asked, stream: true })).text();
    assertEquals(streamed.match(/^event: .*$/gm), ["event: image_generation.completed"]);
    assertEquals(gateway.sandbox.requests.length, 2);
  } finally {
    await gateway.stop();
  }
});

Deno.test("a model of the reference series uses its input images and counts them", async () => {
  const gateway = await startImageGateway();
  const png = await imageFile({ prompt: "seen" });
  const files = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response(png));
  try {
    const address = `http://127.0.0.1:${files.addr.port}/a.png`;
    const references = [address, `data:image/png;base64,${png.toBase64()}`, png.toBase64()];
    for (const model of ["sandbox/seer-1", "sandbox/grok-1"]) {
      const answer = await gateway.post("/v1/images/generations", {
        model,
        prompt: "the same",
        quality: "high",
        size: "1024x1024",
        input_images: references,
      });
      const { usage, data } = await answer.json();
      assertEquals(answer.status, 200);
      assertEquals(usage.num_input_images, 3);
      assertEquals("image_tokens" in usage.input_tokens_details, false);
      const { pixels } = await decodedImage(data[0].b64_json);
      const seen = (await decodedImage(png.toBase64())).pixels;
      // The references are along the lower edge; JPEG blurs them a little.
      pixelAt(pixels, 128, 900).forEach((channel, at) => {
        assert(Math.abs(channel - itemAt(pixelAt(seen, 48, 33), at)) < 60, `${model} ${channel}`);
      });
    }
    // 0.04 + 3 × 0.001, and 0.06
    assertEquals(await gateway.balance(), "24.8970000000");
  } finally {
    await gateway.stop();
    await files.shutdown();
  }
});

Deno.test("an edit for a model of another series reports that the model does not support image editing", async () => {
  const gateway = await startImageGateway();
  try {
    for (const model of ["sandbox/muse-1", "sandbox/seer-1", "sandbox/chat-1"]) {
      const form = new FormData();
      form.append("model", model);
      form.append("prompt", "a hat");
      form.append("quality", "low");
      form.append("image", new Blob([await imageFile()]), "a.png");
      const answer = await gateway.post("/v1/images/edits", form);
      assertEquals(answer.status, 400);
      const { error } = await answer.json();
      assertStringIncludes(error.message.toLowerCase(), "image editing is not supported for the model");
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  } finally {
    await gateway.stop();
  }
});
