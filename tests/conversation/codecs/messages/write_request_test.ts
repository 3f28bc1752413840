import { assert, assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import type { WriteResult } from "../../../../src/conversation/neutral/write_result.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { messages, wireToolName } from "../../../../src/conversation/codecs/messages/mod.ts";
import {
  type Conversation,
  NO_SAMPLING,
  type Part,
  type Turn,
} from "../../../../src/conversation/neutral/conversation.ts";
import type { ReasoningSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import { itemAt } from "../../../support/items.ts";
import { callPart, conversationWith, LOOK, resultPart, targetWith, textPart } from "./samples.ts";
import { RESEMBLING_QUIRKS } from "../../../support/conversations.ts";

function write(fields: Partial<Conversation>, target: Partial<RequestTarget> = {}): WriteResult<JsonObject> {
  return messages.upstream.writeRequest(conversationWith(fields), targetWith(target));
}

/** The messages written for turns, and the dropped fields. */
function writeTurns(...turns: [Turn["role"], ...Part[]][]): { sent: JsonObject[]; droppedFields: readonly string[] } {
  const { body, droppedFields } = write({ turns: turns.map(([role, ...parts]) => ({ role, parts })) });
  return { sent: body.messages as JsonObject[], droppedFields };
}

const OWN: ReasoningSignature = { format: "messages", issuer: "anthropic", value: "c2ln" };

Deno.test("messages request writes a simple conversation without dropped fields", () => {
  const { body, droppedFields } = write({
    instructions: [textPart("Be brief")],
    tools: [LOOK],
    toolChoice: { kind: "tool", tool: "look" },
    sampling: { ...NO_SAMPLING, temperature: 0.5, topK: 3, stop: ["END"] },
    user: "u1",
    stream: true,
  });
  assertEquals(body, {
    model: "claude",
    max_tokens: 100,
    system: "Be brief",
    messages: [{ role: "user", content: "Hello" }],
    tools: [{ name: "look", description: "Looks", input_schema: LOOK.parameters }],
    tool_choice: { type: "tool", name: "look" },
    metadata: { user_id: "u1" },
    stream: true,
    temperature: 0.5,
    top_k: 3,
    stop_sequences: ["END"],
  });
  assertEquals(droppedFields, []);
});

Deno.test("messages request reports unsupported settings", () => {
  const { droppedFields } = write({
    sampling: { ...NO_SAMPLING, presencePenalty: 1, frequencyPenalty: 1, seed: 7, stop: [" "] },
    cacheKey: "k",
    verbosity: "low",
  });
  assertEquals(
    new Set(droppedFields),
    new Set(["presence_penalty", "frequency_penalty", "seed", "stop", "prompt_cache_key", "verbosity"]),
  );
});

Deno.test("messages request clamps temperature and leaves out top_p beside it", () => {
  const sampling = { ...NO_SAMPLING, temperature: 1.7, topP: 0.9 };
  const { body, droppedFields } = write({ sampling });
  assertEquals([body.temperature, body.top_p], [1, undefined]);
  assertEquals(droppedFields, ["temperature", "top_p"]);
  const resembling = write({ sampling: { ...sampling, temperature: 0.7 } }, {
    quirks: RESEMBLING_QUIRKS,
    model: "other",
  });
  assertEquals([resembling.body.temperature, resembling.body.top_p], [0.7, 0.9]);
});

Deno.test("messages request leaves sampling out for models that reject it", () => {
  const sampling = { ...NO_SAMPLING, temperature: 0.7, topK: 3 };
  const { body, droppedFields } = write({ sampling }, { model: "claude-opus-4-8" });
  assertEquals([body.temperature, body.top_k], [undefined, undefined]);
  assertEquals(droppedFields, ["temperature", "top_k"]);
  assertEquals(write({ sampling }, { model: "claude-sonnet-4-20250514" }).body.temperature, 0.7);
});

Deno.test("messages request sets max_tokens: the caller's, the model's limit, or the default", () => {
  const maxTokens = (asked: number | null, limit: number | null, stream = false) =>
    write({ maxOutputTokens: asked, stream }, { maxOutputTokens: limit }).body.max_tokens;
  assertEquals(maxTokens(500, 8000), 500);
  assertEquals(maxTokens(9000, 8000), 8000);
  assertEquals(maxTokens(null, 64_000, true), 64_000);
  assertEquals(maxTokens(null, 64_000), 32_000);
  assertEquals(maxTokens(null, null), 8192);
});

Deno.test("messages request alternates user and assistant, the user first", () => {
  const { sent, droppedFields } = writeTurns(["assistant", textPart("a")], ["user", textPart("b")], [
    "user",
    textPart("c"),
  ]);
  assertEquals(sent, [
    { role: "user", content: "." },
    { role: "assistant", content: "a" },
    { role: "user", content: [{ type: "text", text: "b" }, { type: "text", text: "c" }] },
  ]);
  assertEquals(droppedFields, ["turn_order"]);
  assertEquals(writeTurns().sent, [{ role: "user", content: "." }]);
});

Deno.test("messages request writes instructions in the middle as a reminder in user text", () => {
  const { sent } = writeTurns(["user", textPart("a")], ["system", textPart("mind")], ["assistant", textPart("b")], [
    "user",
    textPart("c"),
  ]);
  const text = "<system-reminder>\nmind\n</system-reminder>";
  assertEquals(sent[0]?.content, [{ type: "text", text: "a" }, { type: "text", text }]);
});

Deno.test("messages request puts results first, right after their calls", () => {
  const { sent, droppedFields } = writeTurns(
    ["user", textPart("hi")],
    ["assistant", callPart("a"), callPart("b")],
    ["system", textPart("mind")],
    ["user", resultPart("b"), resultPart("a"), textPart("so")],
  );
  assertEquals((itemAt(sent, 2).content as JsonObject[]).map((block) => block.tool_use_id ?? block.type), [
    "a",
    "b",
    "text",
    "text",
  ]);
  assertEquals(droppedFields, ["system_turn"]);
});

Deno.test("messages request adds results for calls without one, also at the end", () => {
  const { sent, droppedFields } = writeTurns(["user", textPart("hi")], ["assistant", callPart("a"), callPart("b")], [
    "user",
    resultPart("b"),
  ], ["assistant", callPart("c")]);
  const missing = (id: string) => ({
    type: "tool_result",
    tool_use_id: id,
    content: "No result: the call was interrupted",
    is_error: true,
  });
  assertEquals((itemAt(sent, 2).content as JsonObject[])[0], missing("a"));
  assertEquals(sent[4], { role: "user", content: [missing("c")] });
  assertEquals(droppedFields, ["turn_order"]);
});

Deno.test("messages request writes a result without a call as text", () => {
  const { sent, droppedFields } = writeTurns(["user", resultPart("gone", "42")]);
  assertEquals(sent[0]?.content, [
    { type: "text", text: "Result of an earlier call of the tool look:" },
    { type: "text", text: "42" },
  ]);
  assertEquals(droppedFields, ["turn_order"]);
});

Deno.test("messages request leaves blank text out of a result without a call", () => {
  const orphan: Part = { ...resultPart("gone"), parts: [textPart(""), textPart(" \n"), textPart("seen")] };
  const { sent } = writeTurns(["user", orphan]);
  assertEquals((itemAt(sent, 0).content as JsonObject[]).map(({ text }) => text), [
    "Result of an earlier call of the tool look:",
    "seen",
  ]);
});

Deno.test("messages request trims a prefill when the reasoning after it is left out", () => {
  const thought: Part = { kind: "reasoning", text: "hm", signature: OWN };
  const hello: [Turn["role"], ...Part[]] = ["user", textPart("Hello")];
  const { sent, droppedFields } = writeTurns(hello, ["assistant", textPart("So "), thought]);
  assertEquals(sent.at(-1), { role: "assistant", content: "So" });
  assertEquals(droppedFields, ["reasoning_signature"]);
  assertEquals(writeTurns(hello, ["assistant", thought]).sent, [{ role: "user", content: "Hello" }]);
});

Deno.test("messages request keeps the reasoning of a prefill before its text when the model is to reason", () => {
  const thought: Part = { kind: "reasoning", text: "hm", signature: OWN };
  const begun: Turn = { role: "assistant", parts: [thought, textPart("So "), thought] };
  const turns: Turn[] = [{ role: "user", parts: [textPart("Hello")] }, begun];
  const reasoning = { effort: null, budgetTokens: 2000, visible: null };
  const { body } = write({ turns, reasoning, maxOutputTokens: 5000 }, { model: "claude-3-7-sonnet" });
  const content = itemAt(body.messages as JsonObject[], 1).content as JsonObject[];
  assertEquals(content.map(({ type, text }) => text ?? type), ["thinking", "So"]);
});

Deno.test("messages request has no budget in a chain of calls that did not begin with reasoning", () => {
  const thought: Part = { kind: "reasoning", text: "hm", signature: OWN };
  const turns: Turn[] = [
    { role: "user", parts: [textPart("Hello")] },
    { role: "assistant", parts: [callPart("a")] },
    { role: "user", parts: [resultPart("a"), textPart("go on")] },
    { role: "assistant", parts: [thought, callPart("b")] },
    { role: "user", parts: [resultPart("b")] },
  ];
  const reasoning = { effort: null, budgetTokens: 2000, visible: null };
  const { body } = write({ turns, reasoning, maxOutputTokens: 5000 }, { model: "claude-opus-4-1" });
  assertEquals((body.thinking as JsonObject | undefined)?.type === "enabled", false);
});

Deno.test("messages request leaves an instruction in the user's turn if nothing else of it is sent", () => {
  const turns: Turn[] = [
    { role: "user", parts: [textPart(" \n")] },
    { role: "system", parts: [textPart("Be brief")] },
  ];
  const { body, droppedFields } = write({ turns }, { model: "claude-opus-5" });
  assertEquals((body.messages as JsonObject[]).map(({ role, content }) => [role, content]), [["user", "Be brief"]]);
  assertEquals(droppedFields.includes("system_turn"), true);
});

Deno.test("messages request joins the alternatives of a tool's parameters, and reports it", () => {
  const parameters = { oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] };
  const { body, droppedFields } = write({ tools: [{ ...LOOK, kind: "function", strict: null, parameters }] });
  assertEquals((body.tools as JsonObject[])[0]?.input_schema, { type: "object", properties: { a: {}, b: {} } });
  assertEquals(droppedFields, ["tool_schema"]);
});

Deno.test("messages request sanitizes ids, consistently for call and result, and makes them unique", () => {
  const { sent } = writeTurns(
    ["user", textPart("hi")],
    ["assistant", callPart("call.1"), callPart("call_1"), callPart("call_1")],
    ["user", resultPart("call.1", "x"), resultPart("call_1", "y"), resultPart("call_1", "z")],
    ["assistant", callPart("call_1")],
    ["user", resultPart("call_1", "later")],
  );
  const ids = [1, 3].flatMap((turn) => (itemAt(sent, turn).content as JsonObject[]).map((block) => block.id as string));
  assertEquals(new Set(ids).size, 4);
  for (const id of ids) assertMatch(id, /^[a-zA-Z0-9_-]{1,64}$/);
  const answers = [2, 4].flatMap((turn) => itemAt(sent, turn).content as JsonObject[]);
  assertEquals(answers.map((block) => block.tool_use_id), ids);
  assertEquals(answers.map((block) => block.content), ["x", "y", "z", "later"]);
});

Deno.test("messages request sanitizes tool names everywhere and returns the original names", () => {
  const tool = { ...LOOK, name: "files:read.all" };
  const wire = wireToolName(tool.name);
  assertMatch(wire, /^[a-zA-Z0-9_-]{1,128}$/);
  assertNotEquals(wire, wireToolName("files.read:all"));
  assertEquals(wireToolName("x".repeat(200)).length, 128);
  const { body, toolNames } = write({
    tools: [tool],
    toolChoice: { kind: "tool", tool: tool.name },
    turns: [
      { role: "user", parts: [textPart("hi")] },
      { role: "assistant", parts: [callPart("a", tool.name)] },
      { role: "user", parts: [resultPart("a")] },
    ],
  });
  assertEquals(itemAt(body.tools as JsonObject[], 0).name, wire);
  assertEquals(body.tool_choice, { type: "tool", name: wire });
  assertEquals(itemAt(itemAt(body.messages as JsonObject[], 1).content as JsonObject[], 0).name, wire);
  assertEquals(toolNames, new Map([[wire, tool.name]]));
  assertEquals(write({ tools: [LOOK] }).toolNames, undefined);
});

Deno.test("messages request wraps invalid arguments, because only objects are accepted", () => {
  const inputs = ["{broken", "[1]", '"x"', "{}"];
  const { sent } = writeTurns(
    ["user", textPart("hi")],
    ["assistant", ...inputs.map((input, index) => callPart(`c${index}`, "look", input))],
  );
  assertEquals((itemAt(sent, 1).content as JsonObject[]).map((block) => block.input), [
    { _raw: "{broken" },
    { _raw: "[1]" },
    { _raw: '"x"' },
    {},
  ]);
});

Deno.test("messages request defines tools that only the history calls, because calls require definitions", () => {
  const { body } = write({
    turns: [{ role: "user", parts: [textPart("hi")] }, { role: "assistant", parts: [callPart("a")] }],
  });
  assertEquals(body.tools, [{ name: "look", input_schema: { type: "object", properties: {} } }]);
  assertEquals(body.tool_choice, { type: "none" });
});

Deno.test("messages request writes every tool choice", () => {
  const see = { ...LOOK, name: "see" };
  const choose = (toolChoice: Conversation["toolChoice"], parallelToolCalls: boolean | null = null) => {
    const { body, droppedFields } = write({ tools: [LOOK, see], toolChoice, parallelToolCalls });
    return [body.tool_choice, (body.tools as JsonObject[]).length, droppedFields];
  };
  assertEquals(choose({ kind: "auto" }), [{ type: "auto" }, 2, []]);
  assertEquals(choose({ kind: "none" }, false), [{ type: "none" }, 2, []]);
  assertEquals(choose({ kind: "required" }, false), [{ type: "any", disable_parallel_tool_use: true }, 2, []]);
  assertEquals(choose(null, false), [{ type: "auto", disable_parallel_tool_use: true }, 2, []]);
  assertEquals(choose({ kind: "allowed", mode: "required", tools: ["see"] }), [{ type: "any" }, 1, []]);
  assertEquals(choose({ kind: "tool", tool: "gone" }), [{ type: "auto" }, 2, ["tool_choice"]]);
});

Deno.test("messages request writes free text of a custom tool as one property", () => {
  const { body, droppedFields } = write({
    tools: [{
      kind: "custom",
      name: "patch",
      description: "Patches",
      format: { type: "grammar", syntax: "lark", definition: "start: A" },
    }],
    turns: [
      { role: "user", parts: [textPart("hi")] },
      { role: "assistant", parts: [{ ...callPart("a", "patch", "*** Begin"), custom: true }] },
    ],
  });
  assertEquals((body.tools as JsonObject[])[0]?.name, "patch");
  const call = itemAt(itemAt(body.messages as JsonObject[], 1).content as JsonObject[], 0);
  assertEquals(call.input, { input: "*** Begin" });
  assert(droppedFields.includes("custom_format"));
  assertEquals(
    (body.tools as JsonObject[])[0]?.description,
    "Patches\n\nThe input must match this lark grammar:\nstart: A",
  );
});

Deno.test("messages request sends thinking only to the provider that signed it", () => {
  const thought = (signature?: ReasoningSignature): Part => ({
    kind: "reasoning",
    text: "hm",
    ...(signature ? { signature } : {}),
  });
  const sentWith = (signature?: ReasoningSignature) => {
    const { sent, droppedFields } = writeTurns(["user", textPart("a")], [
      "assistant",
      thought(signature),
      textPart("b"),
    ], [
      "user",
      textPart("c"),
    ]);
    return [itemAt(sent, 1).content, droppedFields];
  };
  const signed = [{ type: "thinking", thinking: "hm", signature: "c2ln" }, { type: "text", text: "b" }];
  assertEquals(sentWith(OWN), [signed, []]);
  assertEquals(sentWith({ ...OWN, issuer: null }), [signed, []]);
  assertEquals(sentWith({ ...OWN, issuer: "other" }), ["b", ["reasoning_signature", "reasoning_text"]]);
  assertEquals(sentWith({ ...OWN, format: "content" }), ["b", ["reasoning_signature", "reasoning_text"]]);
  assertEquals(sentWith(), ["b", ["reasoning_text"]]);
});

Deno.test("messages request sends redacted and omitted thinking back unchanged", () => {
  const { sent } = writeTurns(
    ["user", textPart("a")],
    [
      "assistant",
      { kind: "reasoning", text: "", signature: OWN },
      { kind: "reasoning", text: "", redacted: true, signature: OWN },
      textPart("b"),
    ],
    ["user", textPart("c")],
  );
  assertEquals((itemAt(sent, 1).content as JsonObject[]).slice(0, 2), [
    { type: "thinking", thinking: "", signature: "c2ln" },
    { type: "redacted_thinking", data: "c2ln" },
  ]);
});

Deno.test("messages request sends newer models an effort", () => {
  const asked = (effort: "minimal" | "xhigh" | "none", model: string, visible: boolean | null = null) => {
    const { body } = write({ reasoning: { effort, budgetTokens: null, visible } }, { model });
    return [body.thinking, body.output_config];
  };
  assertEquals(asked("minimal", "claude-opus-4-8"), [{ type: "adaptive" }, { effort: "low" }]);
  assertEquals(asked("xhigh", "claude-opus-4-8", true), [{ type: "adaptive", display: "summarized" }, {
    effort: "xhigh",
  }]);
  assertEquals(asked("xhigh", "claude-opus-4-6", false), [{ type: "adaptive", display: "omitted" }, {
    effort: "high",
  }]);
  assertEquals(asked("none", "claude-opus-4-8"), [{ type: "disabled" }, undefined]);
  const { body } = write(
    { maxOutputTokens: 10_000, reasoning: { effort: null, budgetTokens: 6000, visible: null } },
    { model: "claude-sonnet-5" },
  );
  assertEquals(body.output_config, { effort: "high" });
});

Deno.test("messages request sends older and compatible models a budget below max_tokens", () => {
  const asked = (maxOutputTokens: number, budgetTokens: number | null, limit: number | null = null) => {
    const { body, droppedFields } = write(
      { maxOutputTokens, reasoning: { effort: "high", budgetTokens, visible: null } },
      { model: "claude-sonnet-4-5", maxOutputTokens: limit },
    );
    return [body.max_tokens, body.thinking, droppedFields];
  };
  assertEquals(asked(10_000, null), [10_000, { type: "enabled", budget_tokens: 6000 }, []]);
  assertEquals(asked(500, null), [1524, { type: "enabled", budget_tokens: 1024 }, ["max_tokens"]]);
  assertEquals(asked(2000, 4000), [6000, { type: "enabled", budget_tokens: 4000 }, ["reasoning_effort", "max_tokens"]]);
  assertEquals(asked(2000, 4000, 4096), [4096, { type: "enabled", budget_tokens: 3072 }, [
    "reasoning_effort",
    "max_tokens",
  ]]);
  assertEquals(asked(500, null, 1000), [500, { type: "disabled" }, ["reasoning"]]);
});

Deno.test("messages request sends no thinking to models without it", () => {
  const { body, droppedFields } = write({ reasoning: { effort: "high", budgetTokens: null, visible: null } }, {
    model: "claude-3-5-haiku-20241022",
  });
  assertEquals([body.thinking, droppedFields], [undefined, ["reasoning"]]);
});

Deno.test("messages request drops a budget where the format rejects it, and keeps an effort", () => {
  const reasoning = { effort: "high" as const, budgetTokens: null, visible: null };
  const turns: Turn[] = [
    { role: "user", parts: [textPart("hi")] },
    { role: "assistant", parts: [callPart("a")] },
    { role: "user", parts: [resultPart("a")] },
  ];
  const cases: Partial<Conversation>[] = [
    { tools: [LOOK], toolChoice: { kind: "required" } },
    { tools: [LOOK], turns },
    { turns: [{ role: "user", parts: [textPart("hi")] }, { role: "assistant", parts: [textPart("So")] }] },
  ];
  for (const fields of cases) {
    const { body, droppedFields } = write({ ...fields, reasoning }, { model: "claude-sonnet-4-5" });
    assertEquals([body.thinking, droppedFields.includes("reasoning")], [{ type: "disabled" }, true]);
    assertEquals(write({ ...fields, reasoning }).body.thinking, { type: "adaptive" });
  }
  const thought: Part = { kind: "reasoning", text: "hm", signature: OWN };
  const proven = turns.map((turn) => turn.role === "assistant" ? { ...turn, parts: [thought, ...turn.parts] } : turn);
  const { body } = write({ tools: [LOOK], turns: proven, reasoning }, { model: "claude-sonnet-4-5" });
  assertEquals((body.thinking as JsonObject).type, "enabled");
});

Deno.test("messages request leaves sampling out with thinking", () => {
  const { body, droppedFields } = write({
    reasoning: { effort: "high", budgetTokens: null, visible: null },
    sampling: { ...NO_SAMPLING, temperature: 0.2, topP: 0.96, topK: 3 },
  });
  assertEquals([body.temperature, body.top_p, body.top_k], [undefined, 0.96, undefined]);
  assertEquals(droppedFields, ["temperature", "top_k"]);
});

Deno.test("messages request ends a prefill without whitespace or thinking", () => {
  const turns: Turn[] = [
    { role: "user", parts: [textPart("hi")] },
    { role: "assistant", parts: [{ kind: "reasoning", text: "hm", signature: OWN }, textPart("So \n")] },
  ];
  assertEquals((write({ turns }).body.messages as JsonObject[])[1], { role: "assistant", content: "So" });
  const { body, droppedFields } = write({ turns }, { model: "claude-opus-4-6" });
  assertEquals((body.messages as JsonObject[])[2], { role: "user", content: "Continue." });
  assertEquals(droppedFields, ["turn_order"]);
});

Deno.test("messages request keeps the last four cache marks, and none of an hour after one of five minutes", () => {
  const cache = (ttl: "5m" | "1h" | null) => ({ cache: { ttl } });
  const { body, droppedFields } = write({
    tools: [{ ...LOOK, ...cache("1h") }],
    instructions: [{ ...textPart("a"), ...cache("1h") }, { ...textPart("b"), ...cache(null) }],
    turns: [{ role: "user", parts: [{ ...textPart("c"), ...cache("1h") }, { ...textPart("d"), ...cache("5m") }] }],
  });
  const marks = [body.tools, body.system, itemAt(body.messages as JsonObject[], 0).content].flatMap((blocks) =>
    (blocks as JsonObject[]).map((block) => block.cache_control)
  );
  assertEquals(marks, [
    undefined,
    { type: "ephemeral", ttl: "1h" },
    { type: "ephemeral" },
    { type: "ephemeral", ttl: "5m" },
    { type: "ephemeral", ttl: "5m" },
  ]);
  assertEquals(droppedFields, ["cache_control"]);
});

Deno.test("messages request sends images with their detected type and documents by their kind", () => {
  const base64 = (mediaType: string, data: string) => ({ kind: "base64" as const, mediaType, data });
  const { sent, droppedFields } = writeTurns([
    "user",
    { kind: "image", source: base64("image/png", "/9j/AAAA"), detail: "high" },
    { kind: "image", source: { kind: "url", url: "https://e.com/a", mediaType: null } },
    { kind: "file", source: base64("application/pdf", "aGk="), name: "a.pdf" },
    { kind: "file", source: base64("text/csv", "Z3LDvMOf"), name: null },
    { kind: "file", source: base64("image/webp", "UklGRAAA"), name: "a.webp" },
  ]);
  assertEquals((itemAt(sent, 0).content as JsonObject[]).map((block) => block.source), [
    { type: "base64", media_type: "image/jpeg", data: "/9j/AAAA" },
    { type: "url", url: "https://e.com/a" },
    { type: "base64", media_type: "application/pdf", data: "aGk=" },
    { type: "text", media_type: "text/plain", data: "grüß" },
    { type: "base64", media_type: "image/webp", data: "UklGRAAA" },
  ]);
  assertEquals(droppedFields, ["image_detail"]);
});

Deno.test("messages request rejects media that the format does not support", () => {
  const source = (mediaType: string) => ({ kind: "base64" as const, mediaType, data: "aGk=" });
  const refused: Part[] = [
    { kind: "audio", source: source("audio/wav") },
    { kind: "video", source: source("video/mp4") },
    { kind: "image", source: source("image/tiff") },
    { kind: "file", source: source("application/zip"), name: null },
  ];
  for (const part of refused) {
    const error = assertThrows(() => writeTurns(["user", part]), GatewayError);
    assertEquals([error.code, error.details.field], ["invalid_request", part.kind]);
  }
});

Deno.test("messages request moves the assistant's images to the next user turn", () => {
  const image: Part = { kind: "image", source: { kind: "url", url: "https://e.com/a", mediaType: null } };
  const { sent } = writeTurns(["user", textPart("draw")], ["assistant", image, textPart("here")], [
    "user",
    textPart("now red"),
  ]);
  assertEquals(sent[1]?.content, "here");
  assertEquals((itemAt(sent, 2).content as JsonObject[]).map((block) => block.type), ["image", "text"]);
});

Deno.test("messages request writes refusals as text and leaves out empty text and citations", () => {
  const { sent, droppedFields } = writeTurns(
    ["user", textPart("a"), textPart("  ")],
    ["assistant", { kind: "refusal", text: "No" }, {
      ...textPart("b"),
      citations: [{ url: "https://e.com", title: null, start: null, end: null }],
    }],
    ["user", { ...resultPart("x"), parts: [textPart(" ")] }, textPart("c")],
  );
  assertEquals(sent[0]?.content, "a");
  assertEquals(sent[1]?.content, [{ type: "text", text: "No" }, { type: "text", text: "b" }]);
  assertEquals(droppedFields, ["refusal", "citations", "turn_order"]);
});

Deno.test("messages request sets an output schema where the model supports it, otherwise describes it", () => {
  const outputFormat = {
    kind: "json_schema" as const,
    name: "city",
    description: null,
    schema: { type: "object", properties: { name: { type: "string", minLength: 2 } } },
    strict: true,
  };
  const native = write({ outputFormat });
  assertEquals(native.droppedFields, ["output_name"], "the format has no place for the name");
  assertEquals(native.body.output_config, {
    format: {
      type: "json_schema",
      schema: {
        type: "object",
        properties: { name: { type: "string", description: "(minLength: 2)" } },
        additionalProperties: false,
      },
    },
  });
  const told = write({ outputFormat }, { quirks: RESEMBLING_QUIRKS, model: "other" });
  assertEquals(told.body.output_config, undefined);
  assertMatch(String(told.body.system), /JSON Schema/);
  assertEquals(told.droppedFields, ["output_name", "output_format"]);
  assertMatch(String(write({ outputFormat: { kind: "json" } }).body.system), /JSON object/);
});

Deno.test("messages request enforces a strict tool's schema where the model supports it", () => {
  const tools = [{ ...LOOK, strict: true }];
  const tool = itemAt(write({ tools }).body.tools as JsonObject[], 0);
  assertEquals([tool.strict, (tool.input_schema as JsonObject).additionalProperties], [true, false]);
  const { body, droppedFields } = write({ tools }, { quirks: RESEMBLING_QUIRKS, model: "other" });
  assertEquals([itemAt(body.tools as JsonObject[], 0).strict, droppedFields], [undefined, ["tool_strict"]]);
});
