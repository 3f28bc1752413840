import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { atLeast } from "../support/items.ts";
import { inSandbox, PIXEL } from "./support.ts";

const ask = (content: string) => ({
  model: "m",
  max_tokens: 2000,
  messages: [{ role: "user" as const, content }] as Anthropic.MessageParam[],
});
const WEATHER = {
  name: "weather",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] },
};

Deno.test("sandbox messages echoes the prompt and counts its words", () =>
  inSandbox(async ({ anthropic }) => {
    const reply = await anthropic.messages.create(ask("Hello there"));
    assertEquals(reply.content, [{ type: "text", text: "You said: Hello there" } as Anthropic.TextBlock]);
    assertEquals(reply.stop_reason, "end_turn");
    assertEquals([reply.usage.input_tokens, reply.usage.output_tokens], [2, 4]);
  }));

Deno.test("sandbox messages streams the same reply as without streaming", () =>
  inSandbox(async ({ anthropic }) => {
    const stream = anthropic.messages.stream(ask("Hello there"));
    const words: string[] = [];
    stream.on("text", (delta) => words.push(delta));
    const reply = await stream.finalMessage();
    assertEquals(words, ["You", " said:", " Hello", " there"]);
    assertEquals([reply.usage.input_tokens, reply.usage.output_tokens], [2, 4]);
  }));

Deno.test("sandbox messages accepts signed reasoning, a call and its result in the next request", () =>
  inSandbox(async ({ anthropic }) => {
    const question = ask("Rain? [[think I must look]] [[tool weather]]");
    const thinking = { type: "enabled" as const, budget_tokens: 1024 };
    const first = await anthropic.messages.create({ ...question, tools: [WEATHER], thinking });
    assertEquals(first.stop_reason, "tool_use");
    const [thought, call] = atLeast(first.content, 2);
    assert(thought.type === "thinking" && call.type === "tool_use");
    assertEquals([thought.thinking, call.input], ["I must look", { city: "city" }]);
    const result = { type: "tool_result" as const, tool_use_id: call.id, content: "None", is_error: true };
    const messages: Anthropic.MessageParam[] = [
      ...question.messages,
      { role: "assistant", content: first.content },
      { role: "user", content: [result] },
    ];
    const second = await anthropic.messages.create({ ...question, messages, tools: [WEATHER], thinking });
    const text = second.content.at(-1)!;
    assertEquals(text.type === "text" && text.text, "The tool weather failed: None");
  }));

Deno.test("sandbox messages streams reasoning and a call", () =>
  inSandbox(async ({ anthropic }) => {
    const stream = anthropic.messages.stream({ ...ask("[[think One two]] [[tool weather]]"), tools: [WEATHER] });
    const { content, stop_reason } = await stream.finalMessage();
    assertEquals(content.map(({ type }) => type), ["thinking", "tool_use"]);
    assert(content[0]?.type === "thinking" && content[0].signature !== "");
    assertEquals(content[1]?.type === "tool_use" && content[1].input, { city: "city" });
    assertEquals(stop_reason, "tool_use");
  }));

Deno.test("sandbox messages signs reasoning that it omits", () =>
  inSandbox(async ({ anthropic }) => {
    const thinking = { type: "adaptive" as const, display: "omitted" as const };
    const { content } = await anthropic.messages.create({ ...ask("Hi"), thinking });
    assert(content[0]?.type === "thinking");
    assertEquals(content[0].thinking, "");
    assert(content[0].signature !== "");
  }));

Deno.test("sandbox messages returns an instance of the requested schema", () =>
  inSandbox(async ({ anthropic }) => {
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const output_config = { format: { type: "json_schema" as const, schema } };
    const { content } = await anthropic.messages.create({ ...ask("How many?"), output_config });
    assertEquals(content[0]?.type === "text" && JSON.parse(content[0].text), { n: 1 });
  }));

Deno.test("sandbox messages names the pictures that it receives", () =>
  inSandbox(async ({ anthropic }) => {
    const source = { type: "base64" as const, media_type: "image/png" as const, data: PIXEL };
    const content = [{ type: "image" as const, source }, { type: "text" as const, text: "Look" }];
    const reply = await anthropic.messages.create({ ...ask(""), messages: [{ role: "user", content }] });
    assertEquals(
      reply.content[0]?.type === "text" && reply.content[0].text,
      "You said: Look\nI see 1 image (image/png, 70 bytes).",
    );
  }));

Deno.test("sandbox messages writes a marked prefix to the cache, then reads it", () =>
  inSandbox(async ({ anthropic }) => {
    const system = [{ type: "text" as const, text: "a b c", cache_control: { type: "ephemeral" as const } }];
    const { usage: first } = await anthropic.messages.create({ ...ask("Hi"), system });
    const { usage: second } = await anthropic.messages.create({ ...ask("Ho"), system });
    assertEquals([first.input_tokens, first.cache_creation_input_tokens, first.cache_read_input_tokens], [1, 3, 0]);
    assertEquals([second.input_tokens, second.cache_creation_input_tokens, second.cache_read_input_tokens], [1, 0, 3]);
  }));

Deno.test("sandbox messages stops at a stop sequence and reports it", () =>
  inSandbox(async ({ anthropic }) => {
    const reply = await anthropic.messages.create({ ...ask("one two three"), stop_sequences: ["two"] });
    assertEquals([reply.stop_reason, reply.stop_sequence], ["stop_sequence", "two"]);
    assertEquals(reply.content[0]?.type === "text" && reply.content[0].text, "You said: one ");
  }));

Deno.test("sandbox messages counts tokens", () =>
  inSandbox(async ({ anthropic }) => {
    const { model, messages } = ask("one two three");
    assertEquals((await anthropic.messages.countTokens({ model, messages })).input_tokens, 3);
  }));

Deno.test("sandbox messages rejects wrong keys and missing models as the vendor does", () =>
  inSandbox(async ({ sandbox, anthropic }) => {
    const wrong = new Anthropic({ baseURL: sandbox.baseUrls.anthropic, apiKey: "bad-key", maxRetries: 0 });
    await assertRejects(() => wrong.messages.create(ask("Hi")), Anthropic.AuthenticationError);
    const create = () => anthropic.messages.create({ ...ask("Hi"), model: "missing" });
    const error = await assertRejects(create, Anthropic.NotFoundError);
    assertEquals((error.error as { error: unknown }).error, { type: "not_found_error", message: "model: missing" });
  }));

Deno.test("sandbox lists messages models", () =>
  inSandbox(async ({ anthropic }) => {
    assertEquals((await anthropic.models.list()).data[0]?.id, "sandbox/messages-1");
    assertEquals((await anthropic.models.retrieve("any/model")).id, "any/model");
  }));
