import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { readMoney, writeMoney } from "../../src/platform/lib/basics/money.ts";
import { decodeImage } from "../../src/sandbox/pictures/file.ts";
import { imageFile, imageModel, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const MODEL = "openai/gpt-image-2.5-flare";
const AUTHOR = "openai/gpt-6.2-sol";
const PRICING = { prompt: "0.000005", image_input: "0.000008", image_output: "0.00003" };
const AUTHOR_PRICING = { prompt: "0.000002", completion: "0.00001" };

const image = {
  series: "default",
  edits: true,
  output_formats: ["png", "jpeg", "webp", "gif", "svg"],
  svg_author: AUTHOR,
};
const authorNamed = (id: string, pricing: Json = AUTHOR_PRICING) => ({
  id,
  pricing,
  context_length: 100_000,
  top_provider: { max_completion_tokens: 10_000 },
});

/** The models of the tests, at a provider. */
function modelsAt(provider: string): Json[] {
  return [
    imageModel(MODEL, image, [provider], { pricing: PRICING }),
    { ...authorNamed(AUTHOR), serves: [{ provider }] },
    {
      ...authorNamed("openai/gpt-6-luna", { prompt: "0.0000001", completion: "0.0000005" }),
      serves: [{ provider }],
    },
  ];
}

const gateway = await startImageGateway({ models: modelsAt("one"), balance: "100.00" });
const ORDER = { model: MODEL, prompt: "a fox", quality: "low", size: "1024x1024" };

/** The response, its charge, and what the vendor received. */
async function made(body: Json, path = "/v1/images/generations") {
  const before = readMoney(await gateway.balance());
  const answer = await gateway.post(path, body);
  const reply: Json = await answer.json();
  assertEquals(answer.status, 200, JSON.stringify(reply).slice(0, 500));
  const cost = writeMoney(before - readMoney(await gateway.balance()));
  return {
    reply,
    cost,
    sent: gateway.sandbox.requests.at(-1)?.body as Json,
    dropped: answer.headers.get("x-service-dropped"),
  };
}

const bytesOf = (reply: Json, nth = 0) => Uint8Array.from(Buffer.from(reply.data[nth].b64_json, "base64"));

function editForm(fields: Readonly<Record<string, string>>, picture: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...ORDER, ...fields })) form.set(name, value);
  form.set("image", new File([picture], "a.png"));
  return form;
}

Deno.test("an animation is made, and charged for each frame", async () => {
  const { reply, cost, sent, dropped } = await made({
    ...ORDER,
    output_format: "gif",
    frame_count: 4,
    frame_duration_ms: 50,
  });
  assertEquals([sent.output_format, sent.frame_count, sent.frame_duration_ms], ["gif", 4, 50]);
  assertEquals(dropped, null);
  const bytes = bytesOf(reply);
  assertEquals(new TextDecoder().decode(bytes.subarray(0, 6)), "GIF89a");
  const picture = await decodeImage(bytes, "image/gif");
  assertEquals([picture?.width, picture?.height], [1024, 1024]);
  assertEquals(reply.usage.output_tokens, 4 * 272);
  const expected = reply.usage.input_tokens * 0.000005 + 4 * 272 * 0.00003;
  assert(Math.abs(Number(cost) - expected) < 1e-9, `${cost} ${expected}`);
});

Deno.test("an animation without a number of frames has nine", async () => {
  const { reply, sent } = await made({ ...ORDER, output_format: "gif" });
  assertEquals([sent.frame_count, reply.usage.output_tokens], [undefined, 9 * 272]);
});

Deno.test("the reservation of an animation counts its frames", async () => {
  const costOf = async (more: Json) => {
    const answer = await gateway.post("/v1/images/generations", { ...ORDER, ...more }, { "x-service-dry-run": "true" });
    return (await answer.json()).estimate.cost;
  };
  const still = await costOf({});
  const output = 272 * 0.00003;
  const close = (actual: number, expected: number) =>
    assert(Math.abs(actual - expected) < 1e-9, `${actual} ${expected}`);
  close(await costOf({ output_format: "gif" }), still + 8 * output);
  close(await costOf({ output_format: "gif", frame_count: 16 }), still + 15 * output);
  close(await costOf({ output_format: "gif", frame_count: 2, n: 2 }), still + 3 * output);
});

Deno.test("a drawing is made, and its author is charged at its own price in addition", async () => {
  const { reply, cost, sent } = await made({ ...ORDER, output_format: "svg" });
  assertEquals([sent.output_format, sent.svg], ["svg", undefined]);
  assertStringIncludes(new TextDecoder().decode(bytesOf(reply)), "<svg ");
  const { usage, svg_usage: svg } = reply;
  assertEquals([svg.model, svg.total_tokens], [AUTHOR, svg.input_tokens + svg.output_tokens]);
  const expected = usage.input_tokens * 0.000005 + usage.output_tokens * 0.00003 + svg.input_tokens * 0.000002 +
    svg.output_tokens * 0.00001;
  assert(Math.abs(Number(cost) - expected) < 1e-9, `${cost} ${expected}`);
  assert(svg.output_tokens > 100);
});

Deno.test("the author of a drawing and its effort are chosen by the caller, by any of its names", async () => {
  for (const name of ["openai/gpt-6-luna", "gpt-6-luna"]) {
    const svg = { model: name, reasoning: { effort: "high" } };
    const { reply, cost, sent } = await made({ ...ORDER, output_format: "svg", svg });
    assertEquals(sent.svg, { model: "gpt-6-luna", reasoning: { effort: "high" } });
    assertEquals([reply.svg_usage.model, reply.svg_usage.reasoning_tokens], ["openai/gpt-6-luna", 256]);
    const drawn = reply.svg_usage.input_tokens * 0.0000001 + reply.svg_usage.output_tokens * 0.0000005;
    const own = reply.usage.input_tokens * 0.000005 + reply.usage.output_tokens * 0.00003;
    assert(Math.abs(Number(cost) - own - drawn) < 1e-9, cost);
  }
});

Deno.test("edits make animations and drawings, by a form and by JSON", async () => {
  const picture = await imageFile();
  const images = [{ image_url: `data:image/png;base64,${picture.toBase64()}` }];
  const gif = { output_format: "gif", frame_count: "3" };
  const animated = await made(editForm(gif, picture), "/v1/images/edits");
  assertEquals(animated.reply.usage.output_tokens, 3 * 272);
  const animatedByJson = await made({ ...ORDER, images, output_format: "gif", frame_count: 3 }, "/v1/images/edits");
  assertEquals(animatedByJson.reply.usage.output_tokens, 3 * 272);
  const svg = { output_format: "svg", "svg[model]": "gpt-6-luna", "svg[reasoning][effort]": "low" };
  const drawn = await made(editForm(svg, picture), "/v1/images/edits");
  assertEquals([drawn.reply.svg_usage.model, drawn.reply.svg_usage.reasoning_tokens], ["openai/gpt-6-luna", 128]);
  const chosen = { model: "gpt-6-luna", reasoning: { effort: "low" } };
  const drawnByJson = await made({ ...ORDER, images, output_format: "svg", svg: chosen }, "/v1/images/edits");
  assertEquals(drawnByJson.reply.svg_usage, drawn.reply.svg_usage);
});

Deno.test("what a file type does not have is left out and named, or refused where nothing is near", async () => {
  const gif = await made({
    ...ORDER,
    output_format: "gif",
    frame_count: 2,
    output_compression: 50,
    svg: { model: "x" },
  });
  assertEquals(gif.dropped, "svg, output_compression");
  const png = await made({ ...ORDER, frame_count: 2, frame_duration_ms: 9, svg: { model: "x" } });
  assertEquals(png.dropped, "svg, frame_count, frame_duration_ms");
  const two = await made({ ...ORDER, output_format: "svg", n: 2 });
  assertEquals([two.reply.data.length, two.dropped], [2, null]);
  const refused: readonly (readonly [Json, string])[] = [
    [{ output_format: "gif", frame_count: 17 }, "frame_count"],
    [{ output_format: "gif", frame_count: 1 }, "frame_count"],
    [{ output_format: "gif", background: "transparent" }, "background"],
    [{ output_format: "svg", svg: { model: "unknown/model" } }, "svg.model"],
    [{ output_format: "svg", svg: { model: MODEL } }, "svg.model"],
    [{ output_format: "svg", svg: { reasoning: { effort: "lots" } } }, "svg.reasoning.effort"],
    [{ output_format: "svg", svg: "x" }, "svg"],
    [{ output_format: "tiff" }, "output_format"],
    [{ model: "sandbox/painter-1", output_format: "gif" }, "output_format"],
  ];
  for (const [fields, field] of refused) {
    const answer = await gateway.post("/v1/images/generations", { ...ORDER, ...fields });
    const { error } = await answer.json();
    assertEquals([answer.status, error.param], [400, field], JSON.stringify(fields));
  }
  const picture = await imageFile();
  const form = editForm({ output_format: "gif" }, picture);
  form.set("mask", new File([picture], "m.png"));
  const masked = await gateway.post("/v1/images/edits", form);
  assertEquals([masked.status, (await masked.json()).error.param], [400, "mask"]);
});

Deno.test("a stream of an animation or a drawing has its last event only", async () => {
  for (const output_format of ["gif", "svg"]) {
    const answer = await gateway.post("/v1/images/generations", {
      ...ORDER,
      output_format,
      stream: true,
      partial_images: 2,
    });
    assertEquals([answer.status, answer.headers.get("x-service-dropped")], [200, "partial_images"]);
    const events = (await answer.text()).split("\n").filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)));
    assertEquals(events.map(({ type, output_format }) => [type, output_format]), [[
      "image_generation.completed",
      output_format,
    ]]);
    assertEquals(events[0].svg_usage !== undefined, output_format === "svg");
  }
});

Deno.test("the model that the vendor names decides on the price of a drawing", async () => {
  const b64_json = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString("base64");
  const usage = { input_tokens: 10, output_tokens: 100 };
  const counts = { input_tokens: 1_000, output_tokens: 2_000, reasoning_tokens: 500, total_tokens: 3_000 };
  const answers: readonly (readonly [Json, number])[] = [
    [{ model: "gpt-6-luna", ...counts }, 1_000 * 0.0000001 + 2_000 * 0.0000005],
    [{ model: "gpt-6-luna-2026-09-22", ...counts }, 1_000 * 0.0000001 + 2_000 * 0.0000005],
    [{ model: "unknown", ...counts }, 1_000 * 0.000002 + 2_000 * 0.00001],
    [{ model: "gpt-6.2-sol", ...counts, output_tokens: 50_000_000 }, 1_000 * 0.000002 + 10_000 * 0.00001],
    // Nothing is reported: the text of the prompt and of the drawing is estimated.
    [undefined, 2 * 0.000002 + 11 * 0.00001],
  ];
  for (const [svg_usage, expected] of answers) {
    await using vendor = startStubVendor(() =>
      Promise.resolve(
        Response.json({ output_format: "svg", data: [{ b64_json }], usage, ...svg_usage && { svg_usage } }),
      )
    );
    const own = await startImageGateway({
      providers: { stub: { kind: "openai", base_url: `${vendor.address}/v1`, api_key: "stub-key" } },
      models: modelsAt("stub"),
    });
    try {
      const before = readMoney(await own.balance());
      const answer = await own.post("/v1/images/generations", { ...ORDER, output_format: "svg" });
      assertEquals(answer.status, 200, await answer.text());
      const cost = Number(writeMoney(before - readMoney(await own.balance())));
      assert(Math.abs(cost - 10 * 0.000005 - 100 * 0.00003 - expected) < 1e-9, `${JSON.stringify(svg_usage)} ${cost}`);
    } finally {
      await own.stop();
    }
  }
});

Deno.test("a key may name authors that it may use; the vendor's own author needs no permission", async () => {
  const key = await gateway.limitedKey([MODEL, "openai/gpt-6-luna"]);
  const headers = { authorization: `Bearer ${key}` };
  const order = (svg: Json) =>
    gateway.post("/v1/images/generations", { ...ORDER, output_format: "svg", ...svg && { svg } }, headers);
  const statuses: number[] = [];
  for (const svg of [undefined, { model: "gpt-6-luna" }, { model: "gpt-6.2-sol" }, { model: AUTHOR }]) {
    const answer = await order(svg);
    await answer.body?.cancel();
    statuses.push(answer.status);
  }
  assertEquals(statuses, [200, 200, 403, 403]);
});

Deno.test("the gateway of file types stops", () => gateway.stop());
