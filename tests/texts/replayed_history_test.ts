import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { type CallerFormatName, writeSignature } from "../../src/conversation/neutral/reasoning_signature.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";
import { requestOf } from "./support.ts";

/** A wrapped signature of this provider, and one of another vendor. */
const ownIn = (form: CallerFormatName) => writeSignature({ format: form, issuer: "one", value: "b3du" }, form);
const foreignIn = (form: CallerFormatName) =>
  writeSignature({ format: form === "chat" ? "content" : "chat", issuer: "x", value: "Zm9y" }, form);

/** Without a price, hosted tools need no permission. */
const MODEL = { pricing: {}, top_provider: { max_completion_tokens: 8000 } };

async function sentFor(
  form: CallerFormatName,
  text: string,
): Promise<{ text: string; body: JsonObject; dropped: string | null }> {
  const { service, sent } = textGatewayOf({ providers: { one: [form, wholeReply(form)] }, model: MODEL });
  const response = await service.handle(requestOf(form, { text }));
  await response.text();
  const { text: passed, body } = itemAt(sent, 0);
  return { text: passed, body, dropped: response.headers.get("x-service-dropped") };
}

Deno.test("a messages history passes unchanged, except that own signatures are unwrapped and foreign reasoning is removed", async () => {
  const rest = `"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":1.0}],` +
    `"container":null,"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"max_tokens":4000`;
  const own = `{"type":"thinking","thinking":"h\\u006d","signature":"@"}`;
  const text = `{"model":"acme/m", "messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":[${
    own.replace("@", ownIn("messages"))
  } , {"type":"thinking","thinking":"no","signature":"${foreignIn("messages")}"},{"type":"redacted_thinking","data":"${
    foreignIn("messages")
  }"},
      {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"n":1e2}}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"no","signature":"${foreignIn("messages")}"}]},
    {"role":"user","content":"And?"}],${rest}}`;
  const sent = await sentFor("messages", text);
  assert(sent.text.includes(own.replace("@", "b3du")), "its own bytes but for the proof");
  assert(sent.text.includes(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"n":1e2}}`));
  assert(sent.text.includes(rest));
  assertEquals((sent.body.messages as JsonObject[]).map(({ role }) => role), ["user", "assistant", "user"]);
  assert(!sent.text.includes(foreignIn("messages")));
  assertEquals(sent.dropped, "messages.content.signature, messages.content.redacted_thinking");
});

Deno.test("a messages tool loop from another vendor continues without its budget, which requires the first reasoning", async () => {
  const text = JSON.stringify({
    model: "acme/m",
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
    context_management: { edits: [{ type: "clear_thinking_20251015" }, { type: "clear_tool_uses_20250919" }] },
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: foreignIn("messages") },
          { type: "tool_use", id: "t1", name: "f", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "1" }] },
    ],
    tools: [{ name: "f", input_schema: { type: "object" } }],
  });
  const { body, dropped } = await sentFor("messages", text);
  assertEquals(body.thinking, { type: "disabled" });
  assertEquals(body.context_management, { edits: [{ type: "clear_tool_uses_20250919" }] });
  assertEquals(dropped, "messages.content.signature, thinking");
});

Deno.test("a content history passes with own signatures unwrapped and the documented placeholder on foreign calls", async () => {
  const settings =
    `"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],"tools":[{"urlContext":{}}]`;
  const call = (name: string, more: string) => `{"functionCall":{"name":"${name}","args":{"n":1.0}}${more}}`;
  const text = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]},
    {"role":"model","parts":[{"thought":true,"text":"hm","thoughtSignature":"${foreignIn("content")}"},
      ${call("a", `,"thought_signature":"${foreignIn("content")}"`)},${
    call("b", `,"thoughtSignature":"${foreignIn("content")}"`)
  }]},
    {"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}},{"functionResponse":{"name":"b","response":{}}}]},
    {"role":"model","parts":[${call("a", "")},{"text":"x","thoughtSignature":"${ownIn("content")}"}]},
    {"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}}]},
    {"role":"model","parts":[{"text":"","thoughtSignature":"${foreignIn("content")}"}]},
    {"role":"user","parts":[{"text":"And?"}]}],${settings}}`;
  const { text: sent, body, dropped } = await sentFor("content", text);
  assert(sent.includes(settings));
  assert(
    sent.includes(call("a", `,"thought_signature":"skip_thought_signature_validator"`)),
    "the first call of the step",
  );
  assert(sent.includes(call("b", "")), "a later call has none");
  const contents = body.contents as { role: string; parts: JsonObject[] }[];
  assertEquals(contents.map(({ role }) => role), ["user", "model", "user", "model", "user", "user"]);
  assertEquals(contents[1]?.parts[0], { thought: true, text: "hm" });
  assertEquals(contents[3]?.parts[0]?.thoughtSignature, "skip_thought_signature_validator");
  assertEquals(contents[3]?.parts[1], { text: "x", thoughtSignature: "b3du" });
  assert(!sent.includes(foreignIn("content")));
  assertEquals(dropped, "contents.parts.thoughtSignature, contents.parts.thought_signature");
});

Deno.test("a responses history passes with own signatures unwrapped and foreign items removed", async () => {
  const rest = `"tools":[{"type":"mcp","server_label":"s","server_url":"https://mcp.example"}],"truncation":"auto"`;
  const text = `{"model":"acme/m","input":[{"type":"message","role":"user","content":"Hi"},
    {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"${ownIn("responses")}"},
    {"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"${foreignIn("responses")}"},
    {"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
    {"type":"function_call_output","call_id":"c","output":"1"}],${rest}}`;
  const { text: sent, body, dropped } = await sentFor("responses", text);
  assert(sent.includes(rest));
  const items = body.input as JsonObject[];
  assertEquals(items.map(({ type }) => type), ["message", "reasoning", "function_call", "function_call_output"]);
  assertEquals(items[1]?.encrypted_content, "b3du");
  assertEquals(dropped, "input.encrypted_content");
});

Deno.test("a chat history passes with own signatures unwrapped and foreign details removed", async () => {
  const rest = `"web_search_options":{"search_context_size":"low"},"metadata":{"a":"b"}`;
  const detail = (signature: string) => `{"type":"reasoning.text","text":"hm","signature":"${signature}"}`;
  const kept = JSON.stringify({ format: "f", signature: "c2ln", type: "reasoning.text" });
  const own = writeSignature({ format: "chat", issuer: "one", value: kept }, "chat");
  const text = `{"model":"acme/m","messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":"a","reasoning_details":[${detail(own)},${detail(foreignIn("chat"))}]},
    {"role":"assistant","content":"b","reasoning_content":"hm","reasoning_details":[${detail(foreignIn("chat"))}]},
    {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},
      "extra_content":{"google":{"thought_signature":"${foreignIn("chat")}"}}}]},
    {"role":"tool","tool_call_id":"c","content":"1"}],${rest}}`;
  const { text: sent, body, dropped } = await sentFor("chat", text);
  assert(sent.includes(rest));
  const [, first, second, calling] = atLeast(body.messages as JsonObject[], 4);
  assertEquals(first.reasoning_details, [{ format: "f", signature: "c2ln", type: "reasoning.text", text: "hm" }]);
  assertEquals(second.reasoning_details, undefined);
  assertEquals((calling.tool_calls as JsonObject[])[0]?.extra_content, undefined);
  assert(!sent.includes(foreignIn("chat")));
  assert(dropped?.includes("reasoning_details"));
});

Deno.test("a history without wrapped signatures passes unchanged", async () => {
  const text = `{"model": "acme/m","max_tokens": 10.0,"messages": [{"role":"user","content":"Hi"}]}`;
  const { text: sent, dropped } = await sentFor("messages", text);
  assertEquals(sent, text.replace('"acme/m"', '"vm"'));
  assertEquals(dropped, null);
});

/** Ids that another vendor made of the tool's name, and their form at the vendor that continues the history. */
const ITS_OWN = "functions.read:0";

Deno.test("ids of calls that another vendor made are spelled as the messages format has them, in calls and results alike", async () => {
  const text = JSON.stringify({
    model: "acme/m",
    max_tokens: 100,
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: ITS_OWN, name: "f", input: { id: "a.b" } },
          { type: "tool_use", id: "functions_read_0", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "functions_read_0", content: "2" },
          { type: "tool_result", tool_use_id: ITS_OWN, content: "1" },
        ],
      },
    ],
    tools: [{ name: "f", input_schema: { type: "object" } }],
  });
  const { text: sent, dropped } = await sentFor("messages", text);
  const [call, kept, result] = [...sent.matchAll(/"(?:tool_use_)?id":"(functions[^"]*)"/g)].map(([, id]) => id);
  assert(/^[a-zA-Z0-9_-]+$/.test(call ?? ""), call);
  assertEquals([kept, result], ["functions_read_0", "functions_read_0"]);
  assertEquals(sent.split(`"${call}"`).length, 3, "the call and its result");
  assert(call !== kept && sent.includes('{"id":"a.b"}'), "other values stay");
  assertEquals(dropped, null);
});

Deno.test("ids of calls that are too long for the responses format are cut, in calls and outputs alike", async () => {
  const callId = `functions.${"x".repeat(60)}:0`;
  const { text: sent } = await sentFor(
    "responses",
    JSON.stringify({
      model: "acme/m",
      input: [
        { role: "user", content: "Hi" },
        { type: "function_call", call_id: callId, name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: callId, output: "1" },
      ],
    }),
  );
  const ids = [...sent.matchAll(/"call_id":"([^"]*)"/g)].map(([, id]) => id ?? "");
  assertEquals(ids.map((id) => id.length <= 64), [true, true]);
  assertEquals(ids[0], ids[1]);
});
