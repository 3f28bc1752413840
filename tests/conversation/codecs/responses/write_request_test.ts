import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { responses, wireToolName } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { Conversation, Effort, Part, Turn } from "../../../../src/conversation/neutral/conversation.ts";
import { NO_SAMPLING } from "../../../../src/conversation/neutral/conversation.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { conversationOf, RESEMBLING_QUIRKS, retarget } from "../../../support/conversations.ts";
import { atLeast, itemAt } from "../../../support/items.ts";
import { TARGET } from "./context.ts";

const OPEN_SCHEMA = { type: "object", properties: { a: { type: "string" } } };
const STRICT_SCHEMA = { ...OPEN_SCHEMA, required: ["a"], additionalProperties: false };
const OWN_SIGNATURE = { format: "responses", issuer: "openai", value: "gAAA" } as const;

function write(change: Partial<Conversation>, target: Partial<RequestTarget> = {}) {
  return responses.upstream.writeRequest(conversationOf(change), retarget(TARGET, target));
}

function inputOf(turns: readonly Turn[], target: Partial<RequestTarget> = {}) {
  const { body, droppedFields } = write({ turns }, target);
  return { input: body.input as JsonObject[], droppedFields };
}

function assistant(...parts: Part[]): Turn {
  return { role: "assistant", parts };
}

function user(...parts: Part[]): Turn {
  return { role: "user", parts };
}

const text = (value: string): Part => ({ kind: "text", text: value });
const call = (callId: string, tool = "f"): Part => ({ kind: "tool_call", callId, tool, input: "{}" });
const result = (callId: string, value = "ok"): Part => ({
  kind: "tool_result",
  callId,
  tool: "f",
  parts: [{ kind: "text", text: value }],
  isError: false,
});

Deno.test("writeRequest() disables storage and requests signatures of reasoning", () => {
  const { body, droppedFields } = write({ stream: true });
  assertEquals(body, {
    model: "gpt-5",
    input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
  });
  assertEquals(droppedFields, []);
});

Deno.test("writeRequest() requests no signatures of models that cannot reason", () => {
  for (const model of ["gpt-4o", "gpt-4.1-mini", "gpt-3.5-turbo", "chatgpt-4o-latest"]) {
    assertEquals(write({}, { model }).body.include, undefined);
  }
  for (const model of ["gpt-5.6", "o4-mini", "codex-mini", "my-deployment"]) {
    assertEquals(write({}, { model }).body.include, ["reasoning.encrypted_content"]);
  }
});

Deno.test("writeRequest() reports unsupported settings", () => {
  const { body, droppedFields } = write({
    sampling: {
      temperature: 2.5,
      topP: 0.5,
      topK: 3,
      presencePenalty: 1,
      frequencyPenalty: 1,
      seed: 7,
      stop: ["x"],
    },
  }, { model: "gpt-4.1" });
  assertEquals([body.temperature, body.top_p], [2, 0.5]);
  assertEquals([...droppedFields].sort(), ["frequency_penalty", "presence_penalty", "seed", "stop", "top_k"]);
});

Deno.test("writeRequest() sends no sampling to models that reject it, and reports it", () => {
  const sampling = { ...NO_SAMPLING, temperature: 0.2, topP: 0.5 };
  for (const model of ["gpt-5", "gpt-5-mini", "o3", "o4-mini", "openai/gpt-5.5", "gpt-5.2-codex"]) {
    const { body, droppedFields } = write({ sampling }, { model });
    assertEquals(
      [body.temperature, body.top_p, droppedFields],
      [undefined, undefined, ["temperature", "top_p"]],
      model,
    );
  }
  for (const model of ["gpt-4.1", "gpt-4o-mini", "gpt-5.1", "gpt-5-chat-latest", "my-deployment"]) {
    const { body, droppedFields } = write({ sampling }, { model });
    assertEquals([body.temperature, body.top_p, droppedFields], [0.2, 0.5, []], model);
  }
  const thinking = { effort: "low", budgetTokens: null, visible: null } as const;
  assertEquals(write({ sampling, reasoning: thinking }, { model: "gpt-5.1" }).droppedFields, ["temperature", "top_p"]);
  const usual = { ...NO_SAMPLING, temperature: 1, topP: 1 };
  assertEquals(write({ sampling: usual }, { model: "gpt-5" }).droppedFields, []);
});

Deno.test("writeRequest() sends no reasoning to models that do not reason, and reports it", () => {
  const high = { effort: "high", budgetTokens: null, visible: true } as const;
  for (const model of ["gpt-4.1", "gpt-4o", "gpt-4o-mini", "gpt-3.5-turbo", "gpt-5-chat-latest", "chatgpt-4o-latest"]) {
    const { body, droppedFields } = write({ reasoning: high }, { model });
    assertEquals([body.reasoning, body.include, droppedFields], [undefined, undefined, ["reasoning"]], model);
  }
  assertEquals(write({ reasoning: { ...high, effort: "none" } }, { model: "gpt-4.1" }).droppedFields, []);
  assertEquals(write({ reasoning: high }, { model: "gpt-5" }).body.reasoning, { effort: "high", summary: "auto" });
});

Deno.test("writeRequest() requests an effort that the model supports", () => {
  const effort = (wanted: Effort, model: string) => {
    const { body, droppedFields } = write({ reasoning: { effort: wanted, budgetTokens: null, visible: null } }, {
      model,
    });
    return [(body.reasoning as { effort: Effort }).effort, ...droppedFields];
  };
  assertEquals(effort("none", "gpt-5"), ["minimal", "reasoning"]);
  assertEquals(effort("none", "gpt-5.1"), ["none"]);
  assertEquals(effort("minimal", "gpt-5.2"), ["low"]);
  assertEquals(effort("max", "o3"), ["high"]);
  assertEquals(effort("xhigh", "gpt-5.2"), ["xhigh"]);
  assertEquals(effort("low", "gpt-5-pro"), ["high"]);
});

Deno.test("writeRequest() raises a limit to OpenAI's minimum", () => {
  const raised = write({ maxOutputTokens: 5 });
  assertEquals([raised.body.max_output_tokens, raised.droppedFields], [16, ["max_tokens"]]);
  assertEquals(write({ maxOutputTokens: 5 }, { quirks: RESEMBLING_QUIRKS }).body.max_output_tokens, 5);
  assertEquals(write({ maxOutputTokens: 500 }).body.max_output_tokens, 500);
});

Deno.test("writeRequest() sets strict on every function, and true only for a schema that strict mode accepts", () => {
  const tool = { kind: "function", name: "f", description: null, parameters: null, strict: null } as const;
  const { body, droppedFields } = write({
    tools: [
      tool,
      { ...tool, name: "g", parameters: STRICT_SCHEMA, strict: true },
      { ...tool, name: "h", parameters: OPEN_SCHEMA, strict: true },
      { ...tool, name: "i", parameters: { properties: {} }, strict: false, description: "d" },
      { ...tool, name: "j", parameters: { type: "object", properties: {} }, strict: true },
      { ...tool, name: "k", parameters: { ...STRICT_SCHEMA, properties: { a: OPEN_SCHEMA } }, strict: true },
      { kind: "custom", name: "sql", description: null, format: { type: "text" } },
    ],
    toolChoice: { kind: "tool", tool: "sql" },
    parallelToolCalls: false,
  });
  assertEquals(body.tools, [
    { type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false },
    { type: "function", name: "g", parameters: STRICT_SCHEMA, strict: true },
    { type: "function", name: "h", parameters: OPEN_SCHEMA, strict: false },
    { type: "function", name: "i", description: "d", parameters: { type: "object", properties: {} }, strict: false },
    { type: "function", name: "j", parameters: { type: "object", properties: {} }, strict: false },
    { type: "function", name: "k", parameters: { ...STRICT_SCHEMA, properties: { a: OPEN_SCHEMA } }, strict: false },
    { type: "custom", name: "sql", format: { type: "text" } },
  ]);
  assertEquals(body.tool_choice, { type: "custom", name: "sql" });
  assertEquals(body.parallel_tool_calls, false);
  assertEquals(droppedFields, ["tool_strict"]);
});

Deno.test("writeRequest() offers only the allowed tools where allowed_tools is not supported", () => {
  const tool = { kind: "function", description: null, parameters: null, strict: null } as const;
  const tools = [{ ...tool, name: "f" }, { ...tool, name: "g" }];
  const toolChoice = { kind: "allowed", mode: "required", tools: ["g"] } as const;
  assertEquals(write({ tools, toolChoice }).body.tool_choice, {
    type: "allowed_tools",
    mode: "required",
    tools: [{ type: "function", name: "g" }],
  });
  const { body } = write({ tools, toolChoice }, { quirks: RESEMBLING_QUIRKS });
  assertEquals((body.tools as JsonObject[]).map(({ name }) => name), ["g"]);
  assertEquals(body.tool_choice, "required");
});

Deno.test("writeRequest() leaves out a tool choice without tools", () => {
  assertEquals(write({ toolChoice: { kind: "none" } }).droppedFields, []);
  const { body, droppedFields } = write({ toolChoice: { kind: "required" }, parallelToolCalls: true });
  assertEquals([body.tool_choice, body.parallel_tool_calls], [undefined, undefined]);
  assertEquals(droppedFields.toSorted(), ["parallel_tool_calls", "tool_choice"]);
});

Deno.test("writeRequest() sanitizes tool names consistently, and returns the original names", () => {
  const name = "mcp.server/find things";
  const wire = wireToolName(name);
  assertMatch(wire, /^[a-zA-Z0-9_-]{1,64}$/);
  const written = write({
    tools: [{ kind: "function", name, description: null, parameters: null, strict: null }],
    toolChoice: { kind: "tool", tool: name },
    turns: [assistant(call("c", name)), user(result("c"))],
  });
  assertEquals(itemAt(written.body.tools as JsonObject[], 0).name, wire);
  assertEquals((written.body.tool_choice as JsonObject).name, wire);
  assertEquals(itemAt(written.body.input as JsonObject[], 0).name, wire);
  assertEquals([...written.toolNames!], [[wire, name]]);
  assertEquals(Object.hasOwn(write({}), "toolNames"), false);
});

Deno.test("wireToolName() keeps valid names and keeps different names different", () => {
  assertEquals(wireToolName("get_weather-2"), "get_weather-2");
  assert(wireToolName("a.b") !== wireToolName("a/b"));
  assert(wireToolName("x".repeat(70)) !== wireToolName("x".repeat(71)));
});

Deno.test("writeRequest() sends reasoning only with its own signature, without its id, before the next item", () => {
  const thought: Part = { kind: "reasoning", text: "hm", signature: OWN_SIGNATURE, id: "rs_1" };
  const { input, droppedFields } = inputOf([
    assistant(thought, call("c")),
    user(result("c")),
    assistant(text("a"), thought),
  ]);
  assertEquals(input[0], {
    type: "reasoning",
    summary: [{ type: "summary_text", text: "hm" }],
    encrypted_content: "gAAA",
  });
  assertEquals(input.filter(({ type }) => type === "reasoning").length, 1);
  assertEquals(droppedFields, ["reasoning_signature"]);
});

Deno.test("writeRequest() drops signatures of other formats and issuers, and unsigned reasoning", () => {
  const foreign: Part = { kind: "reasoning", text: "hm", signature: { ...OWN_SIGNATURE, issuer: "azure" } };
  const other: Part = { kind: "reasoning", text: "", signature: { format: "messages", issuer: "openai", value: "x" } };
  const { input, droppedFields } = inputOf([
    assistant(foreign, other, { kind: "reasoning", text: "plain" }, text("a")),
  ]);
  assertEquals(input.map(({ type }) => type), ["message"]);
  assertEquals([...droppedFields].sort(), ["reasoning_signature", "reasoning_text"]);
  const bare: Part = { kind: "reasoning", text: "", signature: { ...OWN_SIGNATURE, issuer: null } };
  assertEquals(inputOf([assistant(bare, text("a"))]).input[0], {
    type: "reasoning",
    summary: [],
    encrypted_content: "gAAA",
  });
});

Deno.test("writeRequest() gives every call a result: missing ones are added, others become text", () => {
  const { input } = inputOf([
    assistant(call("a"), call("b")),
    user(result("b", "second"), result("lost", "found"), text("go on")),
    assistant(call("z")),
  ]);
  assertEquals(input.map((item) => [item.type, item.call_id ?? item.role]), [
    ["function_call", "a"],
    ["function_call", "b"],
    ["function_call_output", "a"],
    ["function_call_output", "b"],
    ["message", "user"],
    ["function_call", "z"],
    ["function_call_output", "z"],
  ]);
  assertEquals((itemAt(input, 4).content as JsonObject[]).map((part) => part.text), [
    "Result of an earlier call of the tool f:",
    "found",
    "go on",
  ]);
});

Deno.test("writeRequest() cuts long call ids alike in call and result, and makes repeated ids unique", () => {
  const long = "call_" + "x".repeat(90);
  const { input } = inputOf([
    assistant(call(long), call("same"), call("same")),
    user(result("same", "1"), result(long), result("same", "2")),
  ]);
  const [first, second, third, ...outputs] = atLeast(input, 3);
  assertEquals((first.call_id as string).length, 64);
  assertEquals([second.call_id, third.call_id], ["same", "same_2"]);
  assertEquals(outputs.map((item) => item.call_id), [first.call_id, "same", "same_2"]);
});

Deno.test("writeRequest() writes results with images as a list, a single text as a string", () => {
  const image = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } } as const;
  const shown: Part = { kind: "tool_result", callId: "a", tool: "f", parts: [image], isError: false };
  const failed: Part = { kind: "tool_result", callId: "b", tool: "f", parts: [], isError: true, custom: true };
  const custom: Part = { kind: "tool_call", callId: "b", tool: "g", input: "", custom: true };
  const { input, droppedFields } = inputOf([assistant(call("a"), custom), user(shown, failed)]);
  assertEquals(input.slice(1), [
    { type: "custom_tool_call", call_id: "b", name: "g", input: "" },
    {
      type: "function_call_output",
      call_id: "a",
      output: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }],
    },
    { type: "custom_tool_call_output", call_id: "b", output: "Error: the tool failed without a message." },
  ]);
  assertEquals(droppedFields, ["tool_error"]);
});

Deno.test("writeRequest() writes PDF files as data and plain text as text", () => {
  const pdf: Part = {
    kind: "file",
    name: null,
    source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" },
  };
  const plain: Part = {
    kind: "file",
    name: "notes.txt",
    source: { kind: "base64", mediaType: "text/plain", data: btoa("hello") },
  };
  const linked: Part = {
    kind: "file",
    name: "x.pdf",
    source: { kind: "url", url: "https://a.example/x.pdf", mediaType: null },
  };
  const { input, droppedFields } = inputOf([user(pdf, plain, linked)]);
  assertEquals(input[0]?.content, [
    { type: "input_file", filename: "document.pdf", file_data: "data:application/pdf;base64,AAAA" },
    { type: "input_text", text: "notes.txt:\nhello" },
    { type: "input_file", file_url: "https://a.example/x.pdf" },
  ]);
  assertEquals(droppedFields, ["file_name"]);
});

Deno.test("writeRequest() rejects video and audio, naming them", () => {
  const source = { kind: "base64", mediaType: "audio/ogg", data: "AAAA" } as const;
  for (const part of [{ kind: "video", source }, { kind: "audio", source }] as const) {
    const { code, details } = assertThrows(() => inputOf([user(part)]), GatewayError);
    assertEquals([code, details.field], ["invalid_request", part.kind]);
  }
});

Deno.test("writeRequest() adds a user message to instructions only", () => {
  const { body, droppedFields } = write({
    turns: [],
    instructions: [
      { kind: "text", text: "a", cache: { ttl: "1h" } },
      { kind: "text", text: "b" },
    ],
  });
  assertEquals(body.instructions, "a\n\nb");
  assertEquals((body.input as JsonObject[]).length, 1);
  assertEquals(droppedFields, ["cache_control"]);
});

Deno.test("writeRequest() writes system text in the middle as developer, or as system for compatible vendors", () => {
  const turns: Turn[] = [user(text("a")), { role: "system", parts: [text("rule")] }];
  assertEquals(inputOf(turns).input[1]?.role, "developer");
  assertEquals(inputOf(turns, { quirks: RESEMBLING_QUIRKS }).input[1]?.role, "system");
});

Deno.test("writeRequest() converts a reasoning budget to the nearest effort", () => {
  const effort = (budgetTokens: number | null, change: Partial<RequestTarget> = {}, maxOutputTokens = 10_000) =>
    write({ reasoning: { effort: null, budgetTokens, visible: true }, maxOutputTokens }, { model: "other", ...change })
      .body.reasoning;
  assertEquals(effort(0), { effort: "none", summary: "auto" });
  assertEquals(effort(1024), { effort: "low", summary: "auto" });
  assertEquals(effort(3000), { effort: "medium", summary: "auto" });
  assertEquals(effort(6000), { effort: "high", summary: "auto" });
  assertEquals(effort(9000), { effort: "xhigh", summary: "auto" });
  assertEquals(effort(9000, { quirks: RESEMBLING_QUIRKS }), { effort: "high", summary: "auto" });
  assertEquals(effort(null), { summary: "auto" });
  const off = { effort: "none", budgetTokens: null, visible: null } as const;
  assertEquals(write({ reasoning: off }, { quirks: RESEMBLING_QUIRKS }).droppedFields, ["reasoning"]);
});

Deno.test("writeRequest() writes format, verbosity and hints within the vendor's limits", () => {
  const { body } = write({
    outputFormat: { kind: "json_schema", name: "my schema", description: null, schema: OPEN_SCHEMA, strict: true },
    verbosity: "low",
    user: "u".repeat(100),
    cacheKey: "k",
  });
  assertEquals(body.text, {
    format: { type: "json_schema", name: "my_schema", schema: OPEN_SCHEMA, strict: false },
    verbosity: "low",
  });
  assertEquals((body.safety_identifier as string).length, 64);
  assertEquals(body.prompt_cache_key, "k");
  assertEquals(write({ user: "u" }, { quirks: RESEMBLING_QUIRKS }).body.user, "u");
  assertEquals(write({ outputFormat: { kind: "json" } }).body.text, { format: { type: "json_object" } });
});

Deno.test("writeRequest() does not request strict output for a schema that is not an object", () => {
  const format = { kind: "json_schema", name: "n", description: null, strict: true } as const;
  for (const schema of [{ type: "array", items: { type: "string" } }, { anyOf: [{ type: "null" }] }]) {
    const { body, droppedFields } = write({ outputFormat: { ...format, schema } });
    assertEquals(body.text, { format: { type: "json_schema", name: "n", schema, strict: false } });
    assertEquals(droppedFields, ["output_strict"]);
  }
});

Deno.test("writeRequest() simplifies function parameters to an object, only for OpenAI", () => {
  const shape = (name: string) => ({ properties: { [name]: {} }, required: [name] });
  const parameters = { anyOf: [shape("a"), shape("b")] };
  const tool = { kind: "function", name: "f", description: null, parameters, strict: null } as const;
  const { body, droppedFields } = write({ tools: [tool] });
  const folded = { type: "object", properties: { a: {}, b: {} } };
  assertEquals(body.tools, [{ type: "function", name: "f", parameters: folded, strict: false }]);
  assertEquals(droppedFields, ["tool_schema"]);
  assertEquals(write({ tools: [{ ...tool, parameters: { type: "string" } }] }).droppedFields, ["tool_schema"]);
  const other = write({ tools: [tool] }, { quirks: RESEMBLING_QUIRKS });
  const kept = { type: "object", properties: {}, ...parameters };
  assertEquals(other.body.tools, [{ type: "function", name: "f", parameters: kept, strict: false }]);
  assertEquals(other.droppedFields, []);
});

Deno.test("writeRequest() mentions JSON in the input when the format requires it and no message does", () => {
  const outputFormat = { kind: "json" } as const;
  const instructions = [{ kind: "text", text: "Answer in JSON" }] as const;
  const [added, ...rest] = atLeast(write({ outputFormat, instructions }).body.input as JsonObject[], 1);
  assertEquals([added.role, rest.length], ["developer", 1]);
  assertMatch(JSON.stringify(added.content), /JSON/);
  const empty = write({ outputFormat, turns: [] }, { quirks: RESEMBLING_QUIRKS }).body.input as JsonObject[];
  assertEquals(empty.map(({ role }) => role), ["system", "user"]);
  assertEquals((write({ outputFormat, turns: [user(text("json, please"))] }).body.input as JsonObject[]).length, 1);
});

Deno.test("writeRequest() keeps the text of a refusal and joins adjacent parts to one message", () => {
  const { input } = inputOf([
    assistant(text("a"), { kind: "refusal", text: "no" }, call("c"), text("b")),
    user(result("c")),
  ]);
  assertEquals(input.map(({ type }) => type), ["message", "function_call", "message", "function_call_output"]);
  assertEquals((itemAt(input, 0).content as JsonObject[]).map(({ type }) => type), ["output_text", "refusal"]);
});
