import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { openaiImages } from "../../../src/vendors/upstreams/openai/images.ts";
import { imageUpstreamContract } from "../../contract/image_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { ok } from "../../support/vendor_stage.ts";
import type { ImageEvent, ImageOrder } from "../../../src/vendors/upstreams/contract/image_upstream.ts";
import { CALL, imageOf, orderOf, RECORDED, recordedAnswer, type Seen, VENDOR_KEY, withImageVendor } from "../vendor.ts";

imageUpstreamContract("openai", {
  open: (outbound) => openaiImages(outbound, (endpoint) => endpoint),
  basePath: "/v1",
  order: orderOf({ model: "gpt-image-2" }),
  successes: [
    {
      answers: [ok({ created: 1, data: [{ b64_json: "AAAA" }], output_format: "png", size: "1024x1024" })],
      images: [{ result: { kind: "base64", data: "AAAA" }, mediaType: "image/png" }],
    },
    {
      answers: [ok({ data: [{ url: "https://vendor.example/1.png" }, { url: "data:image/webp;base64,AAAA" }] })],
      images: [
        { result: { kind: "url", url: "https://vendor.example/1.png" }, mediaType: null },
        { result: { kind: "base64", data: "AAAA" }, mediaType: "image/webp" },
      ],
    },
  ],
  emptySuccesses: [[ok({ data: [] })], [ok({ data: [{ b64_json: null, url: "" }] })], [ok({})]],
  contentRefusals: [
    [{
      status: 400,
      body: { error: { message: "No", type: "image_generation_user_error", code: "moderation_blocked" } },
    }],
  ],
  refusal: (message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
  edits: "with_mask",
});

const PLAIN = { created: 1_793_491_200, data: [{ b64_json: "AAAA" }] };

async function formIn(seen: Seen): Promise<FormData> {
  return await new Response(seen.bytes, { headers: { "content-type": seen.headers.get("content-type")! } }).formData();
}

/** Returns the generation body of a request. */
async function bodyFor(order: Partial<ImageOrder>): Promise<Record<string, unknown>> {
  let body = {};
  await withImageVendor("openai", { body: PLAIN }, async (images, seen) => {
    await images.generate(orderOf(order), CALL);
    body = itemAt(seen, 0).json;
  });
  return body;
}

Deno.test("OpenAI images: a request is sent to generations with its fields and without response_format", async () => {
  await withImageVendor("openai", { body: PLAIN }, async (images, seen) => {
    const order = orderOf({
      model: "gpt-image-2",
      prompt: "Ein Fuchs 🦊",
      count: 3,
      size: "1792x1024",
      quality: "high",
      background: "transparent",
      outputFormat: "webp",
    });
    await images.generate(order, CALL);
    assertEquals([seen[0]?.method, seen[0]?.path], ["POST", "/base/images/generations"]);
    assertEquals(seen[0]?.headers.get("authorization"), `Bearer ${VENDOR_KEY}`);
    assertEquals(seen[0]?.headers.get("content-type"), "application/json");
    assertEquals(seen[0]?.json, {
      model: "gpt-image-2",
      prompt: "Ein Fuchs 🦊",
      n: 3,
      size: "1792x1024",
      quality: "high",
      background: "transparent",
      output_format: "webp",
    });
  });
});

Deno.test("OpenAI images: the value auto and a count of one are not sent", async () => {
  assertEquals(await bodyFor({ size: "auto", quality: "auto", inputFidelity: "high" }), {
    model: "model-1",
    prompt: "A fox",
  });
});

for (
  const [model, size, quality, sent] of [
    ["gpt-image-1.5", "1792x1024", "standard", ["1536x1024", "medium"]],
    ["gpt-image-1-mini", "1024x1792", "hd", ["1024x1536", "high"]],
    ["gpt-image-1.5", "256x256", "low", ["256x256", "low"]],
    ["gpt-image-2", "1792x1024", "hd", ["1792x1024", "high"]],
    ["gpt-image-2.5-flare", "1024x1792", "xhigh", ["1024x1792", "xhigh"]],
    ["chatgpt-image-latest", "1024x1024", "standard", ["1024x1024", "medium"]],
    ["some-other-model", "1792x1024", "hd", ["1792x1024", "hd"]],
  ] as const
) {
  Deno.test(`OpenAI images: for ${model} the values ${size}, ${quality} are sent as ${sent.join(", ")}`, async () => {
    const body = await bodyFor({ model, size, quality });
    assertEquals([body.size, body.quality], [...sent]);
  });
}

Deno.test({
  name: "OpenAI images: a complete response is read in full (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("openai", recordedAnswer("openai/shape-images-completed-gpt-image"), async (images) => {
      const outcome = await images.generate(orderOf(), CALL);
      assertEquals(outcome.createdAt, 1_793_491_200);
      assertEquals([outcome.size, outcome.quality], ["1536x1024", "medium"]);
      assertEquals(outcome.images.map(({ result, mediaType }) => [result.kind, mediaType]), [["base64", "image/png"]]);
      assertEquals(outcome.consumption, {
        textTokens: 14,
        imageTokens: 0,
        cachedTokens: 0,
        outputTokens: 1568,
        outputTextTokens: 0,
      });
    });
  },
});

Deno.test({
  name: "OpenAI images: a response without usage, size and type is read (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("openai", recordedAnswer("openai/images-generations-two-images"), async (images) => {
      const outcome = await images.generate(orderOf({ count: 2 }), CALL);
      assertEquals(outcome.images.length, 2);
      assertEquals([outcome.size, outcome.quality, outcome.consumption], [null, null, null]);
      assertEquals(outcome.images[0]?.mediaType, null);
      const sized = await images.generate(orderOf({ model: "gpt-image-1.5", size: "1792x1024", quality: "hd" }), CALL);
      assertEquals([sized.size, sized.quality], ["1536x1024", "high"]);
    });
    await withImageVendor("openai", recordedAnswer("openai/images-generations-revised-prompt-null"), async (images) => {
      const plain = await images.generate(orderOf(), CALL);
      assertEquals(plain.images[0]?.result, { kind: "base64", data: "base64-image-1" });
    });
  },
});

Deno.test({
  name: "OpenAI images: a recorded refusal keeps message, field and code (skipped without recordings)",
  ignore: !RECORDED,
  fn: async () => {
    await withImageVendor("openai", recordedAnswer("openai/images-generations-unknown-parameter"), async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.message], ["invalid", "Unknown parameter: 'response_format'."]);
      const { status, accepted, vendorCode, field } = failure.facts;
      assertEquals([status, accepted, vendorCode, field], [400, "no", "unknown_parameter", "response_format"]);
    });
  },
});

for (
  const [status, error, kind] of [
    [400, { type: "image_generation_user_error", code: "moderation_blocked", message: "Rejected" }, "invalid"],
    [403, { message: "Your organization must be verified" }, "forbidden"],
    [401, { code: "invalid_api_key", message: `Incorrect API key: ${VENDOR_KEY}` }, "auth"],
    [429, { code: "rate_limit_exceeded", message: "Slow down" }, "rate_limited"],
    [500, { message: "Sorry" }, "unavailable"],
  ] as const
) {
  Deno.test(`OpenAI images: ${status} with "${error.message.slice(0, 20)}" is ${kind}, without the key`, async () => {
    await withImageVendor("openai", { status, body: { error } }, async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.status], [kind, status]);
      assertEquals(failure.facts.isContentRefusal ?? false, status === 400);
      assertEquals(failure.message.includes(VENDOR_KEY), false);
    });
  });
}

for (
  const [what, body] of [
    ["no JSON", "<html>"],
    ["no list", {}],
    ["an empty list", { data: [] }],
    ["an entry without a picture", { data: [{ b64_json: null, url: "" }] }],
    ["another type of picture", { data: [{ b64_json: 7 }] }],
  ] as const
) {
  Deno.test(`OpenAI images: a response with ${what} is broken, and the work may have been done`, async () => {
    await withImageVendor("openai", { body }, async (images) => {
      const failure = await assertRejects(() => images.generate(orderOf(), CALL), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.accepted], ["broken", "unknown"]);
    });
  });
}

Deno.test("OpenAI images: a URL, and a data: URI in either field, are read", async () => {
  const data = [
    { url: "https://media.example/1.png" },
    { url: "data:image/webp;base64,AAAA" },
    { b64_json: "data:image/jpeg;base64,BBBB" },
  ];
  await withImageVendor("openai", { body: { data, output_format: null, usage: null } }, async (images) => {
    assertEquals((await images.generate(orderOf(), CALL)).images, [
      { result: { kind: "url", url: "https://media.example/1.png" }, mediaType: null },
      { result: { kind: "base64", data: "AAAA" }, mediaType: "image/webp" },
      { result: { kind: "base64", data: "BBBB" }, mediaType: "image/jpeg" },
    ]);
  });
});

Deno.test("OpenAI images: output tokens of text are counted apart from those of images", async () => {
  const usage = {
    input_tokens: 34,
    input_tokens_details: { text_tokens: 34, image_tokens: 0 },
    output_tokens: 6543,
    output_tokens_details: { text_tokens: 335, image_tokens: 6208 },
  };
  await withImageVendor("openai", { body: { ...PLAIN, usage } }, async (images) => {
    const { consumption } = await images.generate(orderOf(), CALL);
    assertEquals([consumption?.outputTokens, consumption?.outputTextTokens], [6543, 335]);
  });
});

Deno.test("OpenAI images: usage without details counts as text, and nulls as zero", async () => {
  const answers = [{ input_tokens: 20, output_tokens: 100 }, { input_tokens: null, output_tokens: null }, {
    input_tokens: 50,
    input_tokens_details: { image_tokens: 30, cached_tokens: 10 },
    output_tokens: 7,
  }].map((usage) => ({ body: { ...PLAIN, usage } }));
  await withImageVendor("openai", answers, async (images) => {
    const consumed = async () => (await images.generate(orderOf(), CALL)).consumption;
    assertEquals(await consumed(), {
      textTokens: 20,
      imageTokens: 0,
      cachedTokens: 0,
      outputTokens: 100,
      outputTextTokens: 0,
    });
    assertEquals(await consumed(), null);
    assertEquals(await consumed(), {
      textTokens: 20,
      imageTokens: 30,
      cachedTokens: 10,
      outputTokens: 7,
      outputTextTokens: 0,
    });
  });
});

Deno.test("OpenAI images: an edit is a form with fields, images in their order, and the mask", async () => {
  await withImageVendor("openai", { body: PLAIN }, async (images, seen) => {
    const order = orderOf({
      model: "gpt-image-1.5",
      prompt: "Make the ✨ blue",
      quality: "low",
      count: 2,
      inputFidelity: "high",
      images: [imageOf([1, 2, 3, 13, 10], "image/png"), imageOf([4, 5], "image/jpeg")],
      mask: imageOf([6], "image/png"),
    });
    await images.edit!(order, CALL);
    assertEquals([seen[0]?.method, seen[0]?.path], ["POST", "/base/images/edits"]);
    assertEquals(Number(itemAt(seen, 0).headers.get("content-length")), itemAt(seen, 0).bytes.length);
    const form = await formIn(itemAt(seen, 0));
    const texts = [...form].filter(([, value]) => typeof value === "string");
    assertEquals(Object.fromEntries(texts), {
      model: "gpt-image-1.5",
      prompt: "Make the ✨ blue",
      n: "2",
      quality: "low",
      input_fidelity: "high",
    });
    const files = [...form].filter((entry): entry is [string, File] => entry[1] instanceof File);
    assertEquals(
      await Promise.all(files.map(async ([name, file]) => [name, file.name, file.type, ...await file.bytes()])),
      [
        ["image[]", "image_1.png", "image/png", 1, 2, 3, 13, 10],
        ["image[]", "image_2.jpeg", "image/jpeg", 4, 5],
        ["mask", "mask.png", "image/png", 6],
      ],
    );
  });
});

Deno.test("OpenAI images: a single image is sent as image, and references of a generation are sent to edits", async () => {
  await withImageVendor("openai", { body: PLAIN }, async (images, seen) => {
    await images.generate(orderOf({ images: [imageOf([1])] }), CALL);
    assertEquals(seen[0]?.path, "/base/images/edits");
    assertEquals([...(await formIn(itemAt(seen, 0))).keys()], ["model", "prompt", "image"]);
  });
});

function sse(...events: readonly (readonly [name: string, data: unknown])[]) {
  const body = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");
  return { contentType: "text/event-stream; charset=utf-8", body };
}

const USAGE = { input_tokens: 5, input_tokens_details: { text_tokens: 5, image_tokens: 0 }, output_tokens: 40 };

const completed = (data: string, kind = "image_generation") =>
  [`${kind}.completed`, {
    type: `${kind}.completed`,
    b64_json: data,
    created_at: 1_793_491_200,
    size: "1024x1024",
    quality: "low",
    output_format: "png",
    usage: USAGE,
  }] as const;

Deno.test("OpenAI images: a stream returns partial images, then the outcome with usage", async () => {
  const partial = ["image_generation.partial_image", {
    type: "image_generation.partial_image",
    b64_json: "PART",
    partial_image_index: 0,
    output_format: "png",
  }] as const;
  await withImageVendor("openai", sse(partial, completed("DONE")), async (images, seen) => {
    const events = await Array.fromAsync(images.stream!(orderOf({ partialImages: 2 }), CALL, "generate"));
    assertEquals(seen[0]?.json, { model: "model-1", prompt: "A fox", stream: true, partial_images: 2 });
    assertEquals(
      events,
      [
        { type: "partial", index: 0, data: "PART", mediaType: "image/png" },
        {
          type: "completed",
          outcome: {
            createdAt: 1_793_491_200,
            images: [{ result: { kind: "base64", data: "DONE" }, mediaType: "image/png" }],
            size: "1024x1024",
            quality: "low",
            consumption: { textTokens: 5, imageTokens: 0, cachedTokens: 0, outputTokens: 40, outputTextTokens: 0 },
          },
        },
      ] satisfies ImageEvent[],
    );
  });
});

Deno.test("OpenAI images: a streamed edit is a form; several completed images are one outcome", async () => {
  const answer = sse(completed("ONE", "image_edit"), completed("TWO", "image_edit"));
  await withImageVendor("openai", { ...answer, body: `${answer.body}data: [DONE]\n\n` }, async (images, seen) => {
    const order = orderOf({ images: [imageOf([1])], count: 2 });
    const events = await Array.fromAsync(images.stream!(order, CALL, "edit"));
    const form = await formIn(itemAt(seen, 0));
    assertEquals([form.get("stream"), form.get("partial_images"), form.get("n")], ["true", "0", "2"]);
    const event = itemAt(events, 0);
    assertEquals(events.length, 1);
    if (event.type !== "completed") throw new Error("no outcome");
    assertEquals(event.outcome.images.map(({ result }) => result), [
      { kind: "base64", data: "ONE" },
      { kind: "base64", data: "TWO" },
    ]);
    assertEquals(event.outcome.consumption?.outputTokens, 80);
  });
});

Deno.test("OpenAI images: a complete response to a stream request is read", async () => {
  await withImageVendor("openai", { body: PLAIN }, async (images) => {
    const events = await Array.fromAsync(images.stream!(orderOf(), CALL, "generate"));
    assertEquals(events.map(({ type }) => type), ["completed"]);
  });
});

Deno.test("OpenAI images: an event of several megabytes is read", async () => {
  const large = "A".repeat(3_000_000);
  await withImageVendor("openai", sse(completed(large)), async (images) => {
    const event = itemAt(await Array.fromAsync(images.stream!(orderOf(), CALL, "generate")), 0);
    if (event.type !== "completed") throw new Error("no outcome");
    const { result } = itemAt(event.outcome.images, 0);
    assertEquals(result.kind === "base64" && result.data.length, 3_000_000);
  });
});

for (
  const [what, answer, kind, accepted] of [
    [
      "a refusal",
      sse(["error", { type: "error", error: { code: "moderation_blocked", message: "No" } }]),
      "invalid",
      "no",
    ],
    [
      "a refusal by type",
      sse(["error", { error: { type: "image_generation_user_error", message: "No" } }]),
      "invalid",
      "no",
    ],
    ["a failure", sse(["image_generation.failed", { error: { message: "Oops" } }]), "unavailable", "unknown"],
    ["no picture", sse(), "broken", "unknown"],
    ["an event that is no JSON", { contentType: "text/event-stream", body: "data: {\n\n" }, "broken", "unknown"],
    ["a completed event without a picture", sse(["x", { type: "image_edit.completed" }]), "broken", "unknown"],
  ] as const
) {
  Deno.test(`OpenAI images: a stream with ${what} fails as ${kind}`, async () => {
    await withImageVendor("openai", answer, async (images) => {
      const failure = await assertRejects(
        () => Array.fromAsync(images.stream!(orderOf(), CALL, "generate")),
        UpstreamFailure,
      );
      assertEquals([failure.kind, failure.facts.accepted], [kind, accepted]);
    });
  });
}

Deno.test("OpenAI images: an error before the stream is kept", async () => {
  const answer = { status: 400, body: { error: { message: "Bad size", param: "size", code: "invalid_value" } } };
  await withImageVendor("openai", answer, async (images) => {
    const stream = () => Array.fromAsync(images.stream!(orderOf(), CALL, "generate"));
    assertStringIncludes((await assertRejects(stream, UpstreamFailure)).message, "Bad size");
  });
});
