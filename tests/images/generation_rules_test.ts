import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodedImage, imageFile, type ImageGateway, imageModel, startImageGateway } from "./image_gateway.ts";

const REQUEST = { model: "sandbox/painter-1", prompt: "a fox", quality: "low" };

async function withGateway(test: (gateway: ImageGateway) => Promise<void>): Promise<void> {
  const gateway = await startImageGateway();
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

/** Sends a request with changed fields; returns status and message. */
async function refusalOf(gateway: ImageGateway, change: Record<string, unknown>) {
  const answer = await gateway.post("/v1/images/generations", { ...REQUEST, ...change });
  const { error } = await answer.json();
  return { status: answer.status, message: String(error?.message), param: error?.param };
}

Deno.test("POST /v1/images/generations rejects every field that the API reference rejects, naming it", async () => {
  await withGateway(async (gateway) => {
    const wrong: [field: string, change: Record<string, unknown>][] = [
      ["prompt", { prompt: undefined }],
      ["prompt", { prompt: " " }],
      ["prompt", { prompt: 7 }],
      ["quality", { quality: undefined }],
      ["quality", { quality: null }],
      ["quality", { quality: "ultra" }],
      ["quality", { quality: "constructor" }],
      ["n", { n: 0 }],
      ["n", { n: 11 }],
      ["n", { n: 1.5 }],
      ["n", { n: "2" }],
      ["n", { model: "sandbox/muse-1", n: 1 }],
      ["n", { model: "sandbox/muse-1", n: 4 }],
      ["size", { size: "1023x1024" }],
      ["size", { size: 1024 }],
      ["output_format", { output_format: "gif" }],
      ["background", { background: "red" }],
      ["stream", { stream: "yes" }],
      ["partial_images", { partial_images: 4 }],
      ["model", { model: undefined }],
      ["model", { model: "sandbox/chat-1" }],
      ["extra_body.provider.type", { extra_body: { provider: { type: 7 } } }],
    ];
    for (const [field, change] of wrong) {
      const { status, message, param } = await refusalOf(gateway, change);
      assertEquals([status, param], [400, field], message);
      assertStringIncludes(message, `"${field}"`);
    }
    assertEquals(gateway.sandbox.requests.length, 0);
    assertEquals(await gateway.balance(), "25.0000000000");
  });
});

Deno.test("POST /v1/images/generations lists the accepted values", async () => {
  await withGateway(async (gateway) => {
    const messageOf = async (change: Record<string, unknown>) => (await refusalOf(gateway, change)).message;
    assertStringIncludes(await messageOf({ quality: "ultra" }), "auto, low, medium, high, xhigh, max, standard, hd");
    assertStringIncludes(await messageOf({ size: "1x1" }), "auto, 1024x1024, 1536x1024, 1024x1536, 256x256, 512x512");
    assertStringIncludes(await messageOf({ output_format: "gif" }), "png, jpeg, webp");
    assertStringIncludes(await messageOf({ background: "red" }), "transparent, opaque, auto");
    assertStringIncludes(await messageOf({ n: 11 }), "from 1 to 10");
    // A caller's text is repeated only when it is a short word.
    assertEquals((await messageOf({ quality: "sk-secret with blanks" })).includes("secret"), false);
  });
});

Deno.test("POST /v1/images/generations answers 404 for a model that does not exist", async () => {
  await withGateway(async (gateway) => {
    const answer = await gateway.post("/v1/images/generations", { ...REQUEST, model: "no/such" });
    assertEquals([answer.status, (await answer.json()).error.code], [404, "model_not_found"]);
  });
});

Deno.test("POST /v1/images/generations ignores other spellings of input_images and unknown fields", async () => {
  await withGateway(async (gateway) => {
    const png = (await imageFile()).toBase64();
    const others = { images: [png], image: png, image_urls: [png], style: "vivid", response_format: "url", seed: 1 };
    for (const model of ["sandbox/painter-1", "sandbox/seer-1"]) {
      const answer = await gateway.post("/v1/images/generations", { ...REQUEST, model, ...others });
      assertEquals(answer.status, 200);
      assertEquals("num_input_images" in (await answer.json()).usage, false);
    }
    // A series without input_images rejects the field with any value.
    for (const model of ["sandbox/painter-1", "sandbox/muse-1"]) {
      const answer = await gateway.post("/v1/images/generations", { ...REQUEST, model, input_images: [{}, 1, 2, 3] });
      assertEquals(answer.status, 200);
      assertEquals("num_input_images" in (await answer.json()).usage, false);
    }
    for (const { body } of gateway.sandbox.requests) {
      assertEquals(JSON.stringify(body).includes(png.slice(0, 40)), false);
    }
  });
});

Deno.test("POST /v1/images/generations rejects input_images that cannot be used, naming the item", async () => {
  await withGateway(async (gateway) => {
    const png = await imageFile();
    const good = png.toBase64();
    const huge = png.slice();
    new DataView(huge.buffer).setUint32(16, 65_535);
    new DataView(huge.buffer).setUint32(20, 65_535);
    const cut = png.slice(0, png.length - 40);
    const wrong: [field: string, value: unknown][] = [
      ["input_images", []],
      ["input_images", [good, good, good, good]],
      ["input_images", good],
      ["input_images[1]", [good, {}]],
      ["input_images[0]", [""]],
      ["input_images[0]", ["http://10.0.0.1/a.png"]],
      ["input_images[0]", ["http://localhost.evil.internal/a.png"]],
      ["input_images[1]", [good, "file:///etc/passwd"]],
      ["input_images[0]", ["ftp://example.com/a.png"]],
      ["input_images[0]", [`http://127.0.0.1:1/a.png`]],
      ["input_images[0]", [`data:image/png;base64,${"@".repeat(3_000_000)}`]],
      ["input_images[0]", ["data:image/png,plain"]],
      ["input_images[0]", ["not base64!"]],
      ["input_images[2]", [good, good, new TextEncoder().encode("<svg/>").toBase64()]],
      ["input_images[0]", [huge.toBase64()]],
      ["input_images[0]", [cut.toBase64()]],
    ];
    for (const [field, input_images] of wrong) {
      const { status, message, param } = await refusalOf(gateway, { model: "sandbox/seer-1", input_images });
      assertEquals([status, param], [400, field], message);
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("input_images are never fetched from the gateway itself", async () => {
  await withGateway(async (gateway) => {
    const input_images = [`${gateway.address}/healthz`];
    const { status, message } = await refusalOf(gateway, { model: "sandbox/seer-1", input_images });
    assertEquals(status, 400);
    assertStringIncludes(message, "gateway's own");
  });
});

Deno.test("a model's catalog limits its sizes and maps those that its vendor has retired", async () => {
  await withGateway(async (gateway) => {
    const asked = { ...REQUEST, model: "sandbox/narrow-1", quality: "hd", size: "1792x1024" };
    const answer = await (await gateway.post("/v1/images/generations", asked)).json();
    assertEquals([answer.size, answer.quality], ["1536x1024", "high"]);
    assertEquals((await decodedImage(answer.data[0].b64_json)).width, 1536);
    for (const change of [{ size: "256x256" }, { quality: "standard" }]) {
      const { status, message } = await refusalOf(gateway, { ...asked, ...change });
      assertEquals(status, 400);
      assertStringIncludes(message, "for this model");
    }
  });
});

Deno.test("the returned image has the requested format and background", async () => {
  await withGateway(async (gateway) => {
    for (const output_format of ["png", "jpeg", "webp"]) {
      const answer = await (await gateway.post("/v1/images/generations", { ...REQUEST, output_format })).json();
      assertEquals((await decodedImage(answer.data[0].b64_json)).type, `image/${output_format}`);
    }
    const clear = await (await gateway.post("/v1/images/generations", { ...REQUEST, background: "transparent" }))
      .json();
    const { pixels } = await decodedImage(clear.data[0].b64_json);
    assert(pixels.data.some((value, at) => at % 4 === 3 && value === 0));
  });
});

Deno.test("a response has a Content-Length, and its body is one JSON value", async () => {
  await withGateway(async (gateway) => {
    const answer = await gateway.post("/v1/images/generations", { ...REQUEST, n: 3 });
    const text = await answer.text();
    assertEquals(Number(answer.headers.get("content-length")), text.length);
    assertEquals(answer.headers.get("content-type"), "application/json");
    assertEquals(answer.headers.get("x-service-provider"), "one");
    const { data, created } = JSON.parse(text);
    assertEquals(data.map(({ index }: { index: number }) => index), [0, 1, 2]);
    assertEquals(new Set(data.map((image: { b64_json: string }) => image.b64_json)).size, 3);
    assert(Math.abs(created - Date.now() / 1000) < 60);
  });
});

Deno.test("a generation whose body exceeds the limit is rejected", async () => {
  const gateway = await startImageGateway({
    config: { limits: { image_body: 2_000_000 } },
    models: [imageModel("sandbox/seer-2", { series: "reference" }, ["ark"])],
  });
  try {
    const answer = await gateway.post("/v1/images/generations", { ...REQUEST, prompt: "x".repeat(2_000_000) });
    assertEquals(answer.status, 413);
    await answer.body?.cancel();
  } finally {
    await gateway.stop();
  }
});
