import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from "@google/genai";
import { atLeast, itemAt, present } from "../support/items.ts";
import { ENDPOINTS, inSandbox, PIXEL } from "./support.ts";

const model = "m";
const WEATHER = {
  name: "weather",
  parametersJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const TOOLS = { tools: [{ functionDeclarations: [WEATHER] }] };

Deno.test("sandbox content echoes the prompt and counts its words", () =>
  inSandbox(async ({ google }) => {
    const reply = await google.models.generateContent({ model, contents: "Hello there" });
    assertEquals(reply.text, "You said: Hello there");
    assertEquals(reply.candidates?.[0]?.finishReason as string, "STOP");
    const { promptTokenCount, candidatesTokenCount, totalTokenCount } = reply.usageMetadata!;
    assertEquals([promptTokenCount, candidatesTokenCount, totalTokenCount], [2, 4, 6]);
  }));

Deno.test("sandbox content streams one word per chunk", () =>
  inSandbox(async ({ google }) => {
    const words: string[] = [];
    let total: number | undefined;
    for await (const chunk of await google.models.generateContentStream({ model, contents: "Hello there" })) {
      if (chunk.text) words.push(chunk.text);
      total = chunk.usageMetadata?.totalTokenCount ?? total;
    }
    assertEquals(words, ["You", " said:", " Hello", " there"]);
    assertEquals(total, 6);
  }));

Deno.test("sandbox content streams a JSON list if events are not requested", () =>
  inSandbox(async ({ sandbox }) => {
    const { headers, body } = ENDPOINTS.content;
    const url = `${sandbox.baseUrls.google}/v1beta/models/m:streamGenerateContent`;
    const request = { method: "POST", headers, body: JSON.stringify(body("Hello there")) };
    const response = await fetch(url, request);
    assertEquals(response.headers.get("content-type"), "application/json");
    const chunks: { candidates: { content: { parts?: { text: string }[] } }[] }[] = await response.json();
    const text = chunks.flatMap(({ candidates }) => itemAt(candidates, 0).content.parts ?? []).map((part) => part.text)
      .join(
        "",
      );
    assertEquals(text, "You said: Hello there");
    const failed = await fetch(url, { ...request, body: JSON.stringify(body("[[fail 429 7]]")) });
    assertEquals((await failed.json())[0].error.status, "RESOURCE_EXHAUSTED");
  }));

Deno.test("sandbox content accepts a signed call and its result in the next request", () =>
  inSandbox(async ({ google }) => {
    const question = { role: "user", parts: [{ text: "Rain?" }] };
    const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY };
    const config = { ...TOOLS, toolConfig: { functionCallingConfig } };
    const first = await google.models.generateContent({ model, contents: [question], config });
    const call = itemAt(first.functionCalls!, 0);
    assertEquals([call.name, call.args], ["weather", { city: "city" }]);
    const answer = {
      functionResponse: { id: present(call.id, "id of the call"), name: "weather", response: { output: "None" } },
    };
    const contents = [question, itemAt(first.candidates!, 0).content!, { role: "user", parts: [answer] }];
    const second = await google.models.generateContent({ model, contents, config: TOOLS });
    assertEquals(second.text, "The tool weather answered: None");
  }));

Deno.test("sandbox content shows requested reasoning and counts it separately", () =>
  inSandbox(async ({ google }) => {
    const contents = "[[think one two three]] Hi";
    const shown = await google.models.generateContent({
      model,
      contents,
      config: { thinkingConfig: { includeThoughts: true } },
    });
    const [thought, text] = atLeast(itemAt(shown.candidates!, 0).content!.parts!, 2);
    assertEquals([thought.thought, thought.text], [true, "one two three"]);
    assert(text.thoughtSignature);
    assertEquals(shown.usageMetadata?.thoughtsTokenCount, 3);
    const config = { thinkingConfig: { includeThoughts: false } };
    const hidden = await google.models.generateContent({ model, contents, config });
    assertEquals(itemAt(hidden.candidates!, 0).content!.parts!.length, 1);
    assertEquals(hidden.usageMetadata?.thoughtsTokenCount, 3);
  }));

Deno.test("sandbox content returns an instance of either kind of schema", () =>
  inSandbox(async ({ google }) => {
    const responseMimeType = "application/json";
    const json = { type: "object", properties: { n: { type: "integer", minimum: 3 } }, required: ["n"] };
    const byJson = { responseMimeType, responseJsonSchema: json };
    assertEquals(JSON.parse((await google.models.generateContent({ model, contents: "?", config: byJson })).text!), {
      n: 3,
    });
    const own = { type: "OBJECT" as never, properties: { s: { type: "STRING" as never, enum: ["x"] } } };
    const byOwn = { responseMimeType, responseSchema: own };
    assertEquals(JSON.parse((await google.models.generateContent({ model, contents: "?", config: byOwn })).text!), {
      s: "x",
    });
  }));

Deno.test("sandbox content names the media that it receives", () =>
  inSandbox(async ({ google }) => {
    const parts = [
      { inlineData: { mimeType: "image/png", data: PIXEL } },
      { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
      { text: "Well?" },
    ];
    const { text } = await google.models.generateContent({ model, contents: [{ role: "user", parts }] });
    assertEquals(
      text,
      "You said: Well?\nI see 1 image (image/png, 70 bytes).\nI hear 1 recording (audio/wav, 3 bytes).",
    );
  }));

Deno.test("sandbox content counts tokens", () =>
  inSandbox(async ({ google }) => {
    assertEquals((await google.models.countTokens({ model, contents: "one two three" })).totalTokens, 3);
  }));

Deno.test("sandbox content rejects wrong keys and missing models as the vendor does", () =>
  inSandbox(async ({ sandbox, google }) => {
    const wrong = new GoogleGenAI({ apiKey: "bad-key", httpOptions: { baseUrl: sandbox.baseUrls.google } });
    const key = await assertRejects(() => wrong.models.generateContent({ model, contents: "Hi" }), ApiError);
    assertEquals(key.status, 400);
    assert(key.message.includes("API_KEY_INVALID"));
    const ask = { model: "missing", contents: "Hi" };
    const missing = await assertRejects(() => google.models.generateContent(ask), ApiError);
    assertEquals(missing.status, 404);
  }));

Deno.test("sandbox lists content models", () =>
  inSandbox(async ({ google }) => {
    const { page } = await google.models.list();
    assertEquals(page[0]?.name, "models/sandbox/content-1");
  }));
