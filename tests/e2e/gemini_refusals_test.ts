import { assertEquals } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: Json[] = [];

/** The Gemini API as it answers in November 2026: what a model refuses is a 400. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  const model = /models\/([^:]+):/.exec(new URL(request.url).pathname)?.[1] ?? "";
  seen.push({ model, ...body });
  const message = refusal(model, body.generationConfig ?? {});
  if (message !== null) {
    return Response.json({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }, { status: 400 });
  }
  return Response.json({
    candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: model,
    responseId: "r1",
  });
});

function refusal(model: string, config: Json): string | null {
  if (config.presencePenalty || config.frequencyPenalty) return "Penalty is not enabled for this model";
  const { thinkingLevel, thinkingBudget } = config.thinkingConfig ?? {};
  if (thinkingLevel !== undefined && thinkingBudget !== undefined) return "thinkingBudget and thinkingLevel";
  if (thinkingLevel === "MINIMAL" && /3\.1-pro|3\.[78]-flash|gemini-4/.test(model)) return "thinkingLevel MINIMAL";
  if (thinkingLevel === "XHIGH" && !/neon|hydrogen|2\.5/.test(model)) return "thinkingLevel XHIGH";
  if (thinkingBudget === 0 && model === "gemini-2.5-pro") return "Budget 0 is invalid";
  return null;
}

const MODELS = [
  "gemini-4-argon",
  "gemini-4-neon",
  "gemini-3.8-flash",
  "gemini-3.7-flash",
  "gemini-3.6-flash",
  "gemini-3.1-pro-preview",
  "gemini-2.5-pro",
  "gemini-2.5-flash",
];
const gateway = await startTestGateway({
  config: {
    providers: { google: { kind: "google", base_url: `http://127.0.0.1:${vendor.addr.port}`, api_key: "k" } },
    models: MODELS.map((model) => ({ ...textModel(`google/${model}`, ["google"]), pricing: PRICING })),
  },
});

async function post(path: string, body: Json): Promise<{ status: number; text: string; dropped: string; sent: Json }> {
  seen.length = 0;
  const response = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const dropped = response.headers.get("x-service-dropped") ?? "";
  return { status: response.status, text, dropped, sent: seen.at(-1) };
}

const chat = (model: string, fields: Json) =>
  post("/v1/chat/completions", { model: `google/${model}`, messages: [{ role: "user", content: "hi" }], ...fields });
const content = (model: string, generationConfig: Json, path = `google/${model}:generateContent`) =>
  post(`/gencompat/v1beta/models/${path}`, {
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    generationConfig,
  });

const REQUESTS: readonly (readonly [what: string, chat: Json, content: Json])[] = [
  ["penalties", { frequency_penalty: 0.5, presence_penalty: 0.1 }, { frequencyPenalty: 0.5, presencePenalty: 0.1 }],
  ["the lowest level", { reasoning_effort: "minimal" }, { thinkingConfig: { thinkingLevel: "MINIMAL" } }],
  ["the highest level", { reasoning_effort: "xhigh" }, { thinkingConfig: { thinkingLevel: "XHIGH" } }],
  ["no thinking", { reasoning_effort: "none" }, { thinkingConfig: { thinkingBudget: 0 } }],
  ["a level and a budget", {}, { thinkingConfig: { thinkingLevel: "LOW", thinkingBudget: 100 } }],
];

for (const [what, ofChat, ofContent] of REQUESTS) {
  Deno.test(`no Gemini model is sent what it refuses: ${what}`, async () => {
    for (const model of MODELS) {
      for (const got of [await chat(model, ofChat), await content(model, ofContent)]) {
        assertEquals(got.status, 200, `${model}: ${got.text} for ${JSON.stringify(got.sent)}`);
      }
    }
  });
}

Deno.test("levels of Gemini become the nearest that the model has, and what is lost is named", async () => {
  const levelOf = async (model: string, effort: string) =>
    (await chat(model, { reasoning_effort: effort })).sent.generationConfig.thinkingConfig.thinkingLevel;
  assertEquals(await levelOf("gemini-3.8-flash", "minimal"), "LOW");
  assertEquals(await levelOf("gemini-3.6-flash", "minimal"), "MINIMAL");
  assertEquals(await levelOf("gemini-4-neon", "xhigh"), "XHIGH");
  const passed = await content("gemini-3.8-flash", { temperature: 0.2, frequencyPenalty: 0.5 });
  assertEquals([passed.sent.generationConfig, passed.dropped], [
    { temperature: 0.2 },
    "generationConfig.frequencyPenalty",
  ]);
});

Deno.test("a colon in the path may be written as %3A", async () => {
  const { status, sent } = await content("gemini-3.6-flash", {}, "google/gemini-3.6-flash%3AgenerateContent");
  assertEquals([status, sent?.model], [200, "gemini-3.6-flash"]);
});

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
