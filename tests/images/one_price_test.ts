import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { readMoney, writeMoney } from "../../src/platform/lib/basics/money.ts";
import { imageFile, type ImageGateway, imageModel, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

const PRICING = {
  prompt: "0.000005",
  completion: "0.00001",
  input_cache_read: "0.0000005",
  image_input: "0.000008",
  image_input_cache_read: "0.0000008",
  image_output: "0.000032",
};

const PROMPT = "a fox";
const MODEL = "stub/gemini-image";
/** The same model of the vendor, for endpoints that take no image models. */
const TEXT_MODEL = "stub/gemini-text";

/** Every endpoint that can carry an answer of Gemini's image models. */
const ENDPOINTS: readonly (readonly [path: string, body: unknown])[] = [
  ["/v1/images/generations", { model: MODEL, prompt: PROMPT, quality: "low" }],
  ["/v1/images/generations", { model: MODEL, prompt: PROMPT, quality: "low", stream: true }],
  [`/gencompat/v1beta/models/${MODEL}:generateContent`, { contents: [{ role: "user", parts: [{ text: PROMPT }] }] }],
  [`/gencompat/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`, {
    contents: [{ role: "user", parts: [{ text: PROMPT }] }],
  }],
  ["/v1/chat/completions", { model: TEXT_MODEL, messages: [{ role: "user", content: PROMPT }] }],
  ["/v1/chat/completions", { model: TEXT_MODEL, messages: [{ role: "user", content: PROMPT }], stream: true }],
  ["/v1/responses", { model: TEXT_MODEL, input: PROMPT }],
  ["/v1/responses", { model: TEXT_MODEL, input: PROMPT, stream: true }],
  ["/v1/messages", { model: TEXT_MODEL, max_tokens: 100, messages: [{ role: "user", content: PROMPT }] }],
  ["/v1/messages", { model: TEXT_MODEL, max_tokens: 100, messages: [{ role: "user", content: PROMPT }], stream: true }],
];

/** The charge of each endpoint for one answer of the vendor. */
async function chargesFor(usageMetadata: unknown, pricing: Record<string, string> = PRICING): Promise<string[]> {
  const picture = Buffer.from(await imageFile()).toString("base64");
  const inlineData = { mimeType: "image/png", data: picture };
  const parts = [{ thought: true, inlineData }, { inlineData }];
  const body = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata };
  await using vendor = startStubVendor((request) =>
    new URL(request.url).pathname.endsWith(":streamGenerateContent")
      ? new Response(`data: ${JSON.stringify(body)}\r\n\r\n`, { headers: { "content-type": "text/event-stream" } })
      : Response.json(body)
  );
  const gateway = await startImageGateway({
    providers: { stub: { kind: "google", base_url: vendor.address, api_key: "stub-key" } },
    models: [
      imageModel(MODEL, { series: "multimodal" }, ["stub"], { pricing }),
      { id: TEXT_MODEL, pricing, serves: [{ provider: "stub" }] },
    ],
  });
  try {
    const charges: string[] = [];
    for (const [path, request] of ENDPOINTS) charges.push(await chargeOf(gateway, path, request));
    return charges;
  } finally {
    await gateway.stop();
  }
}

async function chargeOf(gateway: ImageGateway, path: string, body: unknown): Promise<string> {
  const before = readMoney(await gateway.balance());
  const answer = await gateway.post(path, body, { "msg-version": "2023-06-01" });
  const text = await answer.text();
  assertEquals(answer.status, 200, `${path}: ${text.slice(0, 300)}`);
  return writeMoney(before - readMoney(await gateway.balance()));
}

const everywhere = (charge: string) => ENDPOINTS.map(() => charge);

const TOKENS = { promptTokenCount: 326, candidatesTokenCount: 1120, thoughtsTokenCount: 337, totalTokenCount: 1783 };

Deno.test("an answer with pictures and thoughts has one price at every endpoint", async () => {
  const candidatesTokensDetails = [{ modality: "IMAGE", tokenCount: 1120 }];
  // 326 × prompt, 1120 × image_output, 337 × completion
  assertEquals(await chargesFor({ ...TOKENS, candidatesTokensDetails }), everywhere("0.0408400000"));
});

Deno.test("a picture without token details is charged at the price of pictures at every endpoint", async () => {
  assertEquals(await chargesFor(TOKENS), everywhere("0.0408400000"));
});

Deno.test("text beside a picture is charged at the price of text at every endpoint", async () => {
  const candidatesTokensDetails = [{ modality: "TEXT", tokenCount: 120 }, { modality: "IMAGE", tokenCount: 1000 }];
  // 326 × prompt, 1000 × image_output, 120 + 337 × completion
  assertEquals(await chargesFor({ ...TOKENS, candidatesTokensDetails }), everywhere("0.0382000000"));
});

Deno.test("cached tokens of text and pictures have one price at every endpoint", async () => {
  const usage = {
    ...TOKENS,
    cachedContentTokenCount: 200,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 68 }, { modality: "IMAGE", tokenCount: 258 }],
    candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1120 }],
  };
  const output = 1120 * 320_000 + 337 * 100_000;
  // As many pictures as possible are fresh: 126 of 258.
  const guessed = output + 68 * 5_000 + 126 * 80_000 + 132 * 8_000;
  assertEquals(await chargesFor(usage), everywhere(writeMoney(BigInt(guessed))));
  const cacheTokensDetails = [{ modality: "TEXT", tokenCount: 50 }, { modality: "IMAGE", tokenCount: 150 }];
  const reported = output + 18 * 50_000 + 50 * 5_000 + 108 * 80_000 + 150 * 8_000;
  assertEquals(await chargesFor({ ...usage, cacheTokensDetails }), everywhere(writeMoney(BigInt(reported))));
});

Deno.test("a draft of a picture is not charged as a picture at any endpoint", async () => {
  assertEquals(await chargesFor(TOKENS, { per_image: "0.04" }), everywhere("0.0400000000"));
});
