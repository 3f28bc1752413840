import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import type { Part, Turn } from "../../../../src/conversation/neutral/conversation.ts";
import { type ReasoningSignature, writeSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import { itemAt } from "../../../support/items.ts";
import { bodyWith } from "./samples.ts";

function read(fields: JsonObject) {
  return readChecked(messages.caller, bodyWith(fields));
}

function turnsOf(...sent: [role: string, content: unknown][]): readonly Turn[] {
  return read({ messages: sent.map(([role, content]) => ({ role, content })) }).turns;
}

function userParts(...blocks: JsonObject[]): readonly Part[] {
  return itemAt(turnsOf(["user", blocks]), 0).parts;
}

/** The parts of an assistant turn. */
function ownParts(...blocks: JsonObject[]): readonly Part[] {
  return itemAt(turnsOf(["user", "hi"], ["assistant", blocks]), 1).parts;
}

Deno.test("messages request reads every setting", () => {
  const conversation = read({
    system: "Be brief",
    max_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    stop_sequences: ["END"],
    stream: true,
    metadata: { user_id: "u1" },
    tool_choice: { type: "any", disable_parallel_tool_use: true },
    extra_body: { provider: { type: "x" } },
  });
  assertEquals(conversation.instructions, [{ kind: "text", text: "Be brief" }]);
  assertEquals(conversation.maxOutputTokens, 50);
  const { temperature, topP, topK, stop } = conversation.sampling;
  assertEquals([temperature, topP, topK, stop], [0.5, 0.9, 5, ["END"]]);
  assertEquals(conversation.stream, true);
  assertEquals(conversation.user, "u1");
  assertEquals(conversation.toolChoice, { kind: "required" });
  assertEquals(conversation.parallelToolCalls, false);
  assertEquals(conversation.unsupportedFields, []);
});

Deno.test("messages request checks before it reads", () => {
  assertThrows(() => read({ max_tokens: -1 }), GatewayError, "max_tokens");
});

Deno.test("messages request refuses a max_tokens that JSON cannot carry exactly", () => {
  assertThrows(() => read({ max_tokens: 2 ** 60 }), GatewayError, "max_tokens");
});

Deno.test("messages request reports unsupported fields, and never the gateway's own key", () => {
  const { unsupportedFields } = read({
    service_tier: "auto",
    container: null,
    metadata: { trace: 1 },
    output_config: { task_budget: {} },
    extra_body: {},
    tools: [
      { type: "code_execution_20250825", name: "code_execution" },
      { name: "look", input_schema: { type: "object" }, defer_loading: true },
    ],
    messages: [
      { role: "user", content: [{ type: "container_upload", file_id: "f" }, { type: "text", text: "hi" }] },
      { role: "assistant", content: [{ type: "server_tool_use", id: "s", name: "code_execution", input: {} }] },
    ],
  });
  assertEquals(
    new Set(unsupportedFields),
    new Set([
      "metadata.trace",
      "output_config.task_budget",
      "tools.code_execution_20250825",
      "tools.defer_loading",
      "messages.content.container_upload",
      "messages.content.server_tool_use",
    ]),
  );
});

Deno.test("messages request joins adjacent messages of one role and puts results first", () => {
  const call = { type: "tool_use", id: "a", name: "look", input: { at: 1 } };
  const turns = turnsOf(
    ["user", "one"],
    ["user", "two"],
    ["assistant", [call]],
    ["user", [{ type: "text", text: "so" }]],
    ["user", [{ type: "tool_result", tool_use_id: "a", content: "done", is_error: true }]],
  );
  assertEquals(turns.map((turn) => turn.role), ["user", "assistant", "user"]);
  assertEquals(turns[0]?.parts, [{ kind: "text", text: "one" }, { kind: "text", text: "two" }]);
  assertEquals(turns[1]?.parts, [{ kind: "tool_call", callId: "a", tool: "look", input: '{"at":1}' }]);
  const parts = [{ kind: "text" as const, text: "done" }];
  assertEquals(turns[2]?.parts, [
    { kind: "tool_result", callId: "a", tool: "look", parts, isError: true },
    { kind: "text", text: "so" },
  ]);
});

Deno.test("messages request leaves out empty text and turns without other content", () => {
  const turns = turnsOf(["user", "a"], ["assistant", ""], ["user", [{ type: "text", text: "" }]], ["user", "b"]);
  assertEquals(turns, [{ role: "user", parts: [{ kind: "text", text: "a" }, { kind: "text", text: "b" }] }]);
});

Deno.test("messages request keeps instructions in the middle as turns and takes early ones as instructions", () => {
  const conversation = read({
    messages: [
      { role: "system", content: "first" },
      { role: "user", content: "hi" },
      { role: "system", content: [{ type: "text", text: "now" }, { type: "tool_addition", tool: {} }] },
    ],
  });
  assertEquals(conversation.instructions, [{ kind: "text", text: "first" }]);
  assertEquals(conversation.turns[1], { role: "system", parts: [{ kind: "text", text: "now" }] });
  assertEquals(conversation.unsupportedFields, ["messages.content.tool_addition"]);
});

Deno.test("messages request drops a client's accounting line, from the first block only", () => {
  const line = { type: "text", text: "x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli" };
  const { instructions, unsupportedFields } = read({ system: [line, { type: "text", text: "Be brief" }, line] });
  assertEquals(instructions.map((part) => part.text), ["Be brief", line.text]);
  assertEquals(unsupportedFields, []);
});

Deno.test("messages request reads images and documents of every source", () => {
  assertEquals(
    userParts(
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aG\nk=" } },
      { type: "image", source: { type: "url", url: "https://e.com/a.png" } },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "aGk=" },
        title: "a.pdf",
        context: "Read this",
      },
      { type: "document", source: { type: "url", url: "https://e.com/a.pdf" } },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "grüß" } },
      { type: "document", source: { type: "content", content: [{ type: "text", text: "inner" }] } },
      { type: "search_result", title: "T", source: "https://e.com", content: [{ type: "text", text: "found" }] },
    ),
    [
      { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "aGk=" } },
      { kind: "image", source: { kind: "url", url: "https://e.com/a.png", mediaType: null } },
      { kind: "text", text: "Read this" },
      { kind: "file", source: { kind: "base64", mediaType: "application/pdf", data: "aGk=" }, name: "a.pdf" },
      { kind: "file", source: { kind: "url", url: "https://e.com/a.pdf", mediaType: "application/pdf" }, name: null },
      { kind: "file", source: { kind: "base64", mediaType: "text/plain", data: "Z3LDvMOf" }, name: null },
      { kind: "text", text: "inner" },
      { kind: "text", text: "T\nhttps://e.com\nfound" },
    ],
  );
});

Deno.test("messages request refuses file ids and broken base64, naming the block", () => {
  const sources: [JsonObject, string][] = [
    [{ type: "file", file_id: "file_1" }, "messages[0].content[0].source"],
    [
      { type: "base64", media_type: "image/png", data: "A".repeat(100) + "!" + "A".repeat(100) },
      "messages[0].content[0].source.data",
    ],
  ];
  for (const [source, field] of sources) {
    const error = assertThrows(() => userParts({ type: "image", source }), GatewayError);
    assertEquals(error.details.field, field);
  }
});

Deno.test("messages request reads thinking with its signature, and without one", () => {
  assertEquals(
    ownParts(
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "thinking", thinking: "", signature: "b21pdA==" },
      { type: "thinking", thinking: "bare", signature: "" },
      { type: "thinking", thinking: "", signature: "" },
      { type: "redacted_thinking", data: "aGlk" },
    ),
    [
      { kind: "reasoning", text: "hm", signature: { format: "messages", issuer: null, value: "c2ln" } },
      { kind: "reasoning", text: "", signature: { format: "messages", issuer: null, value: "b21pdA==" } },
      { kind: "reasoning", text: "bare" },
      { kind: "reasoning", text: "", redacted: true, signature: { format: "messages", issuer: null, value: "aGlk" } },
    ],
  );
});

Deno.test("messages request attaches a signature of the content format on empty thinking to the call after it", () => {
  const signature: ReasoningSignature = { format: "content", issuer: "google", value: "c2ln" };
  const wrapped = writeSignature(signature, "messages");
  assertEquals(
    ownParts(
      { type: "thinking", thinking: "", signature: wrapped },
      { type: "tool_use", id: "a", name: "look", input: {} },
      { type: "tool_use", id: "b", name: "look", input: {} },
    ),
    [
      { kind: "tool_call", callId: "a", tool: "look", input: "{}", signature },
      { kind: "tool_call", callId: "b", tool: "look", input: "{}" },
    ],
  );
  assertEquals(
    ownParts({ type: "thinking", thinking: "own", signature: wrapped }, {
      type: "tool_use",
      id: "a",
      name: "look",
      input: {},
    })[0],
    { kind: "reasoning", text: "own", signature },
  );
  const fromResponses: ReasoningSignature = { format: "responses", issuer: "openai", value: "ZW5j" };
  assertEquals(
    ownParts(
      { type: "thinking", thinking: "", signature: writeSignature(fromResponses, "messages") },
      { type: "tool_use", id: "a", name: "look", input: {} },
    )[0],
    { kind: "reasoning", text: "", signature: fromResponses },
  );
});

Deno.test("messages request reads a search, its text and its sources", () => {
  const citations = [{ type: "web_search_result_location", url: "https://e.com", title: "E", cited_text: "x" }];
  assertEquals(
    ownParts(
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
      { type: "text", text: "It says", citations },
    ),
    [
      {
        kind: "web_search",
        callId: "srvtoolu_1",
        queries: [],
        results: [],
        failure: null,
        origin: { format: "messages", issuer: null },
      },
      {
        kind: "text",
        text: "It says",
        citations: [{ url: "https://e.com", title: "E", start: 0, end: 7, citedText: "x" }],
      },
    ],
  );
});

Deno.test("messages request reads thinking and effort into one setting", () => {
  const wishes: [fields: JsonObject, wish: unknown][] = [
    [{}, null],
    [{ thinking: { type: "disabled" } }, { effort: "none", budgetTokens: null, visible: null }],
    [{ thinking: { type: "enabled", budget_tokens: 2000 } }, { effort: null, budgetTokens: 2000, visible: true }],
    [
      { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "xhigh" } },
      { effort: "xhigh", budgetTokens: null, visible: false, isAdaptive: true },
    ],
    [{ output_config: { effort: "low" } }, { effort: "low", budgetTokens: null, visible: null }],
  ];
  for (const [fields, wish] of wishes) assertEquals(read(fields).reasoning, wish as never);
});

Deno.test("messages request reads tools, and null for a tool without arguments", () => {
  const look = { type: "object", properties: { at: {} } };
  const { tools } = read({
    tools: [
      { name: "look", description: "Looks", input_schema: look, strict: true, cache_control: { type: "ephemeral" } },
      { type: "custom", name: "wait", input_schema: { type: "object", properties: {} } },
      { name: "any", input_schema: { type: "object" } },
    ],
  });
  assertEquals(tools, [
    { kind: "function", name: "look", description: "Looks", parameters: look, strict: true, cache: { ttl: null } },
    { kind: "function", name: "wait", description: null, parameters: null, strict: null },
    { kind: "function", name: "any", description: null, parameters: { type: "object" }, strict: null },
  ]);
});

Deno.test("messages request reads cache marks; one on the whole request is moved to its last block", () => {
  const marked = { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } };
  assertEquals(userParts(marked, { type: "text", text: "b" }), [
    { kind: "text", text: "a", cache: { ttl: "1h" } },
    { kind: "text", text: "b" },
  ]);
  const { turns } = read({ cache_control: { type: "ephemeral" } });
  assertEquals(turns[0]?.parts, [{ kind: "text", text: "Hello", cache: { ttl: null } }]);
});

Deno.test("messages request reads the output format under both of its names", () => {
  const format = { type: "json_schema", schema: { type: "object" } };
  const shape = { kind: "json_schema", name: "output", description: null, schema: { type: "object" }, strict: null };
  assertEquals(read({ output_config: { format } }).outputFormat, shape as never);
  assertEquals(read({ output_format: format }).outputFormat, shape as never);
});
