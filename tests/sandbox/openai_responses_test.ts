import { assert, assertEquals, assertRejects } from "@std/assert";
import OpenAI from "openai";
import { atLeast } from "../support/items.ts";
import { inSandbox } from "./support.ts";

const WEATHER = {
  type: "function" as const,
  name: "weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};
const PROVEN = { include: ["reasoning.encrypted_content" as const], store: false };

Deno.test("sandbox responses echoes the prompt and counts its words", () =>
  inSandbox(async ({ openai }) => {
    const reply = await openai.responses.create({ model: "m", input: "Hello there" });
    assertEquals(reply.output_text, "You said: Hello there");
    assertEquals(reply.status, "completed");
    assertEquals([reply.usage?.input_tokens, reply.usage?.output_tokens], [2, 4]);
  }));

Deno.test("sandbox responses streams the same reply as without streaming", () =>
  inSandbox(async ({ openai }) => {
    const stream = openai.responses.stream({ model: "m", input: "Hello there" });
    const words: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => words.push(delta));
    const reply = await stream.finalResponse();
    assertEquals(words, ["You", " said:", " Hello", " there"]);
    assertEquals(reply.output_text, "You said: Hello there");
    assertEquals(reply.usage?.total_tokens, 6);
  }));

Deno.test("sandbox responses accepts a call, its reasoning and its output in the next request", () =>
  inSandbox(async ({ openai }) => {
    const question = { role: "user" as const, content: "Rain? [[think I must look]]" };
    const first = await openai.responses.create({
      model: "m",
      input: [question],
      tools: [WEATHER],
      tool_choice: { type: "function", name: "weather" },
      reasoning: { effort: "low", summary: "auto" },
      ...PROVEN,
    });
    const [reasoning, call] = atLeast(first.output, 2);
    assert(reasoning.type === "reasoning" && call.type === "function_call");
    assertEquals(reasoning.summary[0]?.text, "I must look");
    assert(reasoning.encrypted_content);
    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "None" };
    const input = [question, reasoning, call, output];
    const second = await openai.responses.create({ model: "m", input, tools: [WEATHER], ...PROVEN });
    assertEquals(second.output_text, "The tool weather answered: None");
  }));

Deno.test("sandbox responses shows only the requested summary and signature", () =>
  inSandbox(async ({ openai }) => {
    const { output, usage } = await openai.responses.create({ model: "m", input: "Hi", reasoning: { effort: "high" } });
    assert(output[0]?.type === "reasoning");
    assertEquals(output[0].summary, []);
    assertEquals(output[0].encrypted_content, undefined);
    assert(usage!.output_tokens_details.reasoning_tokens > 0);
  }));

Deno.test("sandbox responses calls a custom tool with free text", () =>
  inSandbox(async ({ openai }) => {
    const { output } = await openai.responses.create({
      model: "m",
      input: "[[tool shell ls -l]]",
      tools: [{ type: "custom", name: "shell" }],
    });
    assert(output[0]?.type === "custom_tool_call");
    assertEquals(output[0]?.input, "ls -l");
  }));

Deno.test("sandbox responses returns an instance of the requested schema", () =>
  inSandbox(async ({ openai }) => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    const format = { type: "json_schema" as const, name: "answer", schema };
    const { output_text } = await openai.responses.create({ model: "m", input: "Ready?", text: { format } });
    assertEquals(JSON.parse(output_text), { ok: true });
  }));

Deno.test("sandbox responses stops at the token limit", () =>
  inSandbox(async ({ openai }) => {
    const reply = await openai.responses.create({ model: "m", input: "[[words 50]]", max_output_tokens: 16 });
    assertEquals(reply.status, "incomplete");
    assertEquals(reply.incomplete_details?.reason, "max_output_tokens");
    assertEquals(reply.output_text.split(" ").length, 16);
  }));

Deno.test("sandbox responses counts input tokens", () =>
  inSandbox(async ({ openai }) => {
    const count = await openai.responses.inputTokens.count({ model: "m", input: "one two three" });
    assertEquals(count, { object: "response.input_tokens", input_tokens: 3 });
  }));

Deno.test("sandbox responses rejects missing models as the vendor does", () =>
  inSandbox(async ({ openai }) => {
    const create = () => openai.responses.create({ model: "missing", input: "Hi" });
    assertEquals((await assertRejects(create, OpenAI.NotFoundError)).code, "model_not_found");
  }));

Deno.test("sandbox responses stores reasoning by default and accepts it by its id", () =>
  inSandbox(async ({ openai }) => {
    const question = { role: "user" as const, content: "Rain? [[think I must look]] [[tool weather]]" };
    const asked = { model: "gpt-6.2-sol", tools: [WEATHER] };
    const first = await openai.responses.create({ ...asked, input: [question] });
    const [reasoning, call] = atLeast(first.output, 2);
    assert(reasoning.type === "reasoning" && call.type === "function_call");
    assertEquals(reasoning.encrypted_content, undefined);
    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "None" };
    const bare = { type: "reasoning" as const, id: reasoning.id, summary: [] };
    const named = { type: "item_reference" as const, id: reasoning.id };
    for (const back of [reasoning, bare, named]) {
      const second = await openai.responses.create({ ...asked, input: [question, back, call, output] });
      assertEquals(second.output_text, "The tool weather answered: None");
    }
    const continued = await openai.responses.create({ ...asked, previous_response_id: first.id, input: [output] });
    assertEquals(continued.output_text, "The tool weather answered: None");
  }));

Deno.test("sandbox responses stores a streamed reply, and none if store is false", () =>
  inSandbox(async ({ openai }) => {
    const streamed = await openai.responses.stream({ model: "m", input: "[[think a]] hi" }).finalResponse();
    const [thought] = atLeast(streamed.output, 2);
    const input = [...streamed.output.map(({ id }) => ({ type: "item_reference" as const, id: id ?? "" }))];
    const again = await openai.responses.create({
      model: "m",
      input: [{ role: "user", content: "hi" }, ...input, { role: "user", content: "and?" }],
    });
    assertEquals(again.output_text, "You said: and?");
    assert(thought.type === "reasoning");
    const unstored = await openai.responses.create({ model: "m", input: "[[think a]] hi", store: false });
    const [lost] = atLeast(unstored.output, 2);
    const back = openai.responses.create({
      model: "m",
      input: [lost as typeof thought, { role: "user", content: "x" }],
    });
    const error = await assertRejects(() => back, OpenAI.NotFoundError);
    assertEquals(error.param, "input");
  }));
