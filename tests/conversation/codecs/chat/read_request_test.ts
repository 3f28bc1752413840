import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { writeSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";

const USER = { role: "user", content: "Hi" };

function read(fields: JsonObject) {
  return readChecked(chat.caller, { model: "prov/m", messages: [USER], ...fields });
}

function turns(...messages: unknown[]) {
  return read({ messages }).turns;
}

function parts(...content: unknown[]) {
  return turns({ role: "user", content })[0]?.parts ?? [];
}

function call(id: string | undefined, name = "f") {
  return { id, type: "function", function: { name, arguments: "{}" } };
}

Deno.test("chat request reader reads leading system and developer text as instructions, later text as system turns", () => {
  const { instructions, turns } = read({
    messages: [
      { role: "system", content: "A" },
      { role: "developer", content: [{ type: "text", text: "B", cache_control: { type: "ephemeral", ttl: "1h" } }] },
      USER,
      { role: "system", content: "C" },
    ],
  });
  assertEquals(instructions, [{ kind: "text", text: "A" }, { kind: "text", text: "B", cache: { ttl: "1h" } }]);
  assertEquals(turns.map(({ role }) => role), ["user", "system"]);
});

Deno.test("chat request reader joins adjacent messages of one role and drops empty text", () => {
  const joined = turns(USER, { role: "user", content: "" }, USER, { role: "assistant", content: "" }, USER);
  assertEquals(joined, [{ role: "user", parts: Array(3).fill({ kind: "text", text: "Hi" }) }]);
});

Deno.test("chat request reader puts results of calls first in the user's turn, with their tools' names", () => {
  const [, , turn] = turns(
    USER,
    { role: "assistant", content: "I look", tool_calls: [call("a"), call("b", "g")] },
    { role: "tool", tool_call_id: "b", content: "2" },
    { role: "user", content: "And?" },
    { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "1" }] },
  );
  assertEquals(turn?.parts, [
    { kind: "tool_result", callId: "b", tool: "g", parts: [{ kind: "text", text: "2" }], isError: false },
    { kind: "tool_result", callId: "a", tool: "f", parts: [{ kind: "text", text: "1" }], isError: false },
    { kind: "text", text: "And?" },
  ]);
});

Deno.test("chat request reader gives calls with one id different ids, and each its result", () => {
  const read = turns(
    USER,
    { role: "assistant", content: null, tool_calls: [call("x", "one"), call("x", "two")] },
    { role: "tool", tool_call_id: "x", content: "1" },
    { role: "tool", tool_call_id: "x", content: "2" },
    { role: "assistant", content: null, tool_calls: [call("x", "three")] },
    { role: "tool", tool_call_id: "x", content: "3" },
  );
  const seen = read.flatMap(({ parts }) => parts).flatMap((part) =>
    part.kind === "tool_call" || part.kind === "tool_result" ? [[part.kind, part.callId, part.tool]] : []
  );
  assertEquals(seen, [
    ["tool_call", "x", "one"],
    ["tool_call", "x_2", "two"],
    ["tool_result", "x", "one"],
    ["tool_result", "x_2", "two"],
    ["tool_call", "x_3", "three"],
    ["tool_result", "x_3", "three"],
  ]);
});

Deno.test("chat request reader matches a result to the latest call of its id", () => {
  const read = turns(
    USER,
    { role: "assistant", content: null, tool_calls: [call("x", "lost")] },
    USER,
    { role: "assistant", content: null, tool_calls: [call("x", "found")] },
    { role: "tool", tool_call_id: "x", content: "1" },
  );
  const [result] = read.at(-1)?.parts ?? [];
  assertEquals(result?.kind === "tool_result" && [result.callId, result.tool], ["x_2", "found"]);
});

Deno.test("chat request reader makes ids for calls that have none", () => {
  const [, assistant, user] = turns(
    USER,
    { role: "assistant", content: null, tool_calls: [call(undefined), call("", "g")] },
    { role: "tool", tool_call_id: "", content: "1" },
    { role: "tool", tool_call_id: "", content: "2" },
  );
  const ids = assistant?.parts.map((part) => part.kind === "tool_call" && part.callId);
  assertEquals(ids, ["call_1_0", "call_1_1"]);
  assertEquals(user?.parts.map((part) => part.kind === "tool_result" && part.callId), ids);
});

Deno.test("chat request reader reads the legacy function fields", () => {
  const { turns, tools, toolChoice } = read({
    messages: [
      USER,
      { role: "assistant", content: null, function_call: { name: "f", arguments: '{"a":1}' } },
      { role: "function", name: "f", content: "1" },
    ],
    functions: [{ name: "f", parameters: { type: "object" } }],
    function_call: { name: "f" },
  });
  assertEquals(turns.slice(1), [
    { role: "assistant", parts: [{ kind: "tool_call", callId: "call_1", tool: "f", input: '{"a":1}' }] },
    {
      role: "user",
      parts: [{
        kind: "tool_result",
        callId: "call_1",
        tool: "f",
        parts: [{ kind: "text", text: "1" }],
        isError: false,
      }],
    },
  ]);
  assertEquals(tools[0]?.name, "f");
  assertEquals(toolChoice, { kind: "tool", tool: "f" });
});

Deno.test("chat request reader determines media by their data: URLs, in any field", () => {
  assertEquals(
    parts(
      { type: "image_url", image_url: { url: "data:image/PNG;base64,AA-_\n", detail: "low" } },
      { type: "image_url", image_url: { url: "data:application/pdf;base64,AAAA" } },
      { type: "image_url", image_url: "https://example.com/a" },
      { type: "video_url", video_url: { url: "data:video/mp4;base64,AAAA" } },
      { type: "document_url", document_url: "https://example.com/a.pdf" },
      { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
      { type: "file", file: { file_data: "AAAA", filename: "a.pdf" } },
      { type: "file", file: { file_data: "data:text/plain,a%20b", filename: "a.txt" } },
    ),
    [
      { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AA+/" }, detail: "low" },
      { kind: "file", source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" }, name: null },
      { kind: "image", source: { kind: "url", url: "https://example.com/a", mediaType: null } },
      { kind: "video", source: { kind: "base64", mediaType: "video/mp4", data: "AAAA" } },
      { kind: "file", source: { kind: "url", url: "https://example.com/a.pdf", mediaType: null }, name: null },
      { kind: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "AAAA" } },
      { kind: "file", source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" }, name: "a.pdf" },
      { kind: "file", source: { kind: "base64", mediaType: "text/plain", data: btoa("a b") }, name: "a.txt" },
    ],
  );
});

Deno.test("chat request reader rejects fields that have no equivalent at other vendors, and names them", () => {
  const refused: [JsonObject, string][] = [
    [{ n: 2 }, "n"],
    [{ modalities: ["text", "audio"] }, "modalities"],
    [{ seed: 9007199254740993 }, "seed"],
    [{ max_tokens: 1e300 }, "max_tokens"],
    [
      { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
      "messages[0].content[0].file.file_id",
    ],
  ];
  for (const [fields, field] of refused) {
    assertEquals(assertThrows(() => read(fields), GatewayError).details.field, field);
  }
});

Deno.test("chat request reader reports unsupported fields, and never the gateway's own key", () => {
  const { unsupportedFields } = read({
    messages: [{ role: "user", name: "Bob", content: [{ type: "hologram" }, { type: "text", text: "Hi" }] }],
    tools: [{ type: "web_search" }],
    logit_bias: { "1": 2 },
    service_tier: "flex",
    tomorrow: 1,
    reasoning_effort: "utmost",
    extra_body: { provider: { type: "a" } },
    logprobs: false,
    store: false,
    metadata: {},
    modalities: ["text"],
    n: 1,
  });
  assertEquals([...unsupportedFields].sort(), [
    "logit_bias",
    "messages.content.hologram",
    "messages.name",
    "reasoning_effort",
    "tomorrow",
    "tools.web_search",
  ]);
});

Deno.test("chat request reader prefers the newer of two fields for one setting", () => {
  const { maxOutputTokens, user, sampling } = read({
    max_tokens: 1,
    max_completion_tokens: 2,
    user: "a",
    safety_identifier: "b",
    stop: "x",
  });
  assertEquals([maxOutputTokens, user, sampling.stop], [2, "b", ["x"]]);
});

Deno.test("chat request reader reads every way to request reasoning", () => {
  const asked = (fields: JsonObject) => read(fields).reasoning;
  assertEquals(asked({}), null);
  assertEquals(asked({ reasoning_effort: "high" }), { effort: "high", budgetTokens: null, visible: null });
  assertEquals(asked({ reasoning: { max_tokens: 9, exclude: true } }), {
    effort: null,
    budgetTokens: 9,
    visible: false,
  });
  assertEquals(asked({ reasoning: { enabled: false } })?.effort, "none");
  assertEquals(asked({ thinking: { type: "disabled" } })?.effort, "none");
  assertEquals(asked({ thinking: { type: "enabled", budget_tokens: 7 } })?.budgetTokens, 7);
});

Deno.test("chat request reader reads reasoning of every dialect, and wrapped signatures", () => {
  const signature = { format: "messages" as const, issuer: "anthropic", value: "sig.1" };
  const thoughts = (fields: JsonObject) => turns(USER, { role: "assistant", content: "Yes", ...fields })[1]?.parts[0];
  assertEquals(thoughts({ reasoning_content: "hm" }), { kind: "reasoning", text: "hm" });
  assertEquals(thoughts({ reasoning: "hm" }), { kind: "reasoning", text: "hm" });
  const wrapped = writeSignature(signature, "chat");
  const detail = { type: "reasoning.text", text: "hm", signature: wrapped, index: 0 };
  assertEquals(thoughts({ reasoning_content: "hm", reasoning_details: [detail] }), {
    kind: "reasoning",
    text: "hm",
    signature,
  });
  const proof = { type: "reasoning.text", signature: wrapped, index: 0 };
  assertEquals(thoughts({ reasoning_content: "hm", reasoning_details: [proof] }), {
    kind: "reasoning",
    text: "hm",
    signature,
  });
  assertEquals(thoughts({ reasoning_details: [{ type: "reasoning.encrypted", data: wrapped }] }), {
    kind: "reasoning",
    text: "",
    signature,
    redacted: true,
  });
  assertEquals(thoughts({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }), {
    kind: "reasoning",
    text: "hm",
  });
});

Deno.test("chat request reader reads the signature of a call, and attaches that of a message to its text or first call", () => {
  const extra = { extra_content: { google: { thought_signature: "sig" } } };
  const signature = { format: "chat" as const, issuer: null, value: "sig" };
  const signaturesOf = (message: JsonObject) =>
    turns(USER, { role: "assistant", ...message })[1]?.parts.map((part) =>
      "signature" in part ? part.signature : undefined
    );
  assertEquals(signaturesOf({ tool_calls: [{ ...call("a"), ...extra }, call("b")] }), [signature, undefined]);
  assertEquals(signaturesOf({ tool_calls: [call("a"), call("b")], ...extra }), [signature, undefined]);
  assertEquals(signaturesOf({ content: "Hi", tool_calls: [call("a")], ...extra }), [signature, undefined]);
});

Deno.test("chat request reader flattens a grammar, and reads schema formats", () => {
  const { tools, outputFormat } = read({
    tools: [{
      type: "custom",
      custom: { name: "c", format: { type: "grammar", grammar: { syntax: "regex", definition: "a" } } },
    }],
    response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" }, strict: true } },
  });
  assertEquals(tools, [{
    kind: "custom",
    name: "c",
    description: null,
    format: { type: "grammar", syntax: "regex", definition: "a" },
  }]);
  assertEquals(outputFormat, {
    kind: "json_schema",
    name: "n",
    description: null,
    schema: { type: "object" },
    strict: true,
  });
});
