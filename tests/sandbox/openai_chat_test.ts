import { assert, assertEquals, assertRejects } from "@std/assert";
import OpenAI from "openai";
import { itemAt } from "../support/items.ts";
import { inSandbox, PIXEL } from "./support.ts";

const ask = (content: string) => ({ model: "chat", messages: [{ role: "user" as const, content }] });
const WEATHER = {
  type: "function" as const,
  function: {
    name: "weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

Deno.test("sandbox chat echoes the prompt and counts its words", () =>
  inSandbox(async ({ openai }) => {
    const reply = await openai.chat.completions.create(ask("Hello there"));
    assertEquals(reply.choices[0]?.message.content, "You said: Hello there");
    assertEquals(reply.choices[0]?.finish_reason, "stop");
    assertEquals([reply.usage?.prompt_tokens, reply.usage?.completion_tokens], [2, 4]);
  }));

Deno.test("sandbox chat streams one word per chunk and reports usage if requested", () =>
  inSandbox(async ({ openai }) => {
    const stream = openai.chat.completions.stream({ ...ask("Hello there"), stream_options: { include_usage: true } });
    const words: string[] = [];
    stream.on("content", (delta) => words.push(delta));
    const reply = await stream.finalChatCompletion();
    assertEquals(words.filter((word) => word !== ""), ["You", " said:", " Hello", " there"]);
    assertEquals(reply.choices[0]?.message.content, "You said: Hello there");
    assertEquals(reply.usage?.total_tokens, 6);
  }));

Deno.test("sandbox chat calls the required tool and repeats its result", () =>
  inSandbox(async ({ openai }) => {
    const request = { ...ask("Rain?"), tools: [WEATHER], tool_choice: "required" as const };
    const { message, finish_reason } = itemAt((await openai.chat.completions.create(request)).choices, 0);
    assertEquals(finish_reason, "tool_calls");
    assertEquals(message.content, null);
    const call = itemAt(message.tool_calls!, 0);
    assert(call.type === "function");
    assertEquals(call.function, { name: "weather", arguments: '{"city":"city"}' });
    const messages = [...request.messages, message, {
      role: "tool" as const,
      tool_call_id: call.id,
      content: "None",
    }];
    const after = await openai.chat.completions.create({ model: "chat", messages, tools: [WEATHER] });
    assertEquals(after.choices[0]?.message.content, "The tool weather answered: None");
  }));

Deno.test("sandbox chat streams two calls in one reply", () =>
  inSandbox(async ({ openai }) => {
    const prompt = '[[tool weather {"city":"Oslo"}]] [[tool weather {"city":"Rome"}]]';
    const stream = openai.chat.completions.stream({ ...ask(prompt), tools: [WEATHER] });
    const { message } = itemAt((await stream.finalChatCompletion()).choices, 0);
    const calls = message.tool_calls!.map((call) => call.type === "function" && call.function.arguments);
    assertEquals(calls, ['{"city":"Oslo"}', '{"city":"Rome"}']);
    assertEquals(new Set(message.tool_calls!.map(({ id }) => id)).size, 2);
  }));

Deno.test("sandbox chat hides reasoning and counts it; a reasoner model shows it", () =>
  inSandbox(async ({ openai }) => {
    const plain = await openai.chat.completions.create({
      ...ask("[[think one two three]] Hi"),
      reasoning_effort: "low",
    });
    assert(!("reasoning_content" in itemAt(plain.choices, 0).message));
    assertEquals(plain.usage?.completion_tokens_details?.reasoning_tokens, 3);
    const shown = await openai.chat.completions.create({ ...ask("[[think one two three]] Hi"), model: "reasoner-1" });
    const message = itemAt(shown.choices, 0).message as { reasoning_content?: string };
    assertEquals(message.reasoning_content, "one two three");
  }));

Deno.test("sandbox chat returns an instance of the requested schema", () =>
  inSandbox(async ({ openai }) => {
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer", minimum: 18 } },
      required: ["name", "age"],
      additionalProperties: false,
    };
    const reply = await openai.chat.completions.create({
      ...ask("Who?"),
      response_format: { type: "json_schema", json_schema: { name: "person", schema, strict: true } },
    });
    assertEquals(JSON.parse(itemAt(reply.choices, 0).message.content!), { name: "name", age: 18 });
    const json = await openai.chat.completions.create({
      ...ask("Some JSON"),
      response_format: { type: "json_object" },
    });
    assertEquals(JSON.parse(itemAt(json.choices, 0).message.content!), { echo: "Some JSON" });
  }));

Deno.test("sandbox chat names the pictures that it receives", () =>
  inSandbox(async ({ openai }) => {
    const content = [
      { type: "text" as const, text: "Look" },
      { type: "image_url" as const, image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ];
    const reply = await openai.chat.completions.create({ model: "chat", messages: [{ role: "user", content }] });
    assertEquals(reply.choices[0]?.message.content, "You said: Look\nI see 1 image (image/png, 70 bytes).");
  }));

Deno.test("sandbox chat reports a long prefix as cached the second time", () =>
  inSandbox(async ({ openai }) => {
    const messages = [
      { role: "system" as const, content: "word ".repeat(2000) },
      { role: "user" as const, content: "Hi" },
    ];
    const cached = async () =>
      (await openai.chat.completions.create({ model: "chat", messages })).usage?.prompt_tokens_details?.cached_tokens;
    assertEquals([await cached(), await cached()], [0, 2001]);
  }));

Deno.test("sandbox chat rejects wrong keys and missing models as the vendor does", () =>
  inSandbox(async ({ sandbox, openai }) => {
    const wrong = new OpenAI({ baseURL: sandbox.baseUrls.openai, apiKey: "bad-key-12345678", maxRetries: 0 });
    const key = await assertRejects(() => wrong.chat.completions.create(ask("Hi")), OpenAI.AuthenticationError);
    assertEquals(key.code, "invalid_api_key");
    const missing = { ...ask("Hi"), model: "missing-model" };
    const model = await assertRejects(() => openai.chat.completions.create(missing), OpenAI.NotFoundError);
    assertEquals(model.code, "model_not_found");
  }));

Deno.test("sandbox lists chat models", () =>
  inSandbox(async ({ openai }) => {
    const { data } = await openai.models.list();
    assert(data.length > 0);
    assertEquals((await openai.models.retrieve("sandbox/chat-1")).id, "sandbox/chat-1");
  }));
