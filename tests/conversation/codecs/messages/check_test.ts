import { assertEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import { bodyWith } from "./samples.ts";

function fieldRefused(body: unknown): string | undefined {
  const error = assertThrows(() => messages.caller.check(body as JsonObject), GatewayError);
  assertEquals(error.code, "invalid_request");
  assertEquals(error.status, 400);
  return error.details.field;
}

function fieldRefusedWith(fields: JsonObject): string | undefined {
  return fieldRefused(bodyWith(fields));
}

function turns(...messages: [role: string, content: unknown][]): JsonObject {
  return { messages: messages.map(([role, content]) => ({ role, content })) };
}

Deno.test("messages check rejects a body that is not an object", () => {
  for (const body of [null, [], "x", 1]) assertEquals(fieldRefused(body), undefined);
});

Deno.test("messages check names a missing or empty model", () => {
  for (const model of [undefined, null, "", 7]) assertEquals(fieldRefusedWith({ model }), "model");
});

Deno.test("messages check rejects max_tokens that is missing, negative, fractional or out of range, or 0 with no cache to fill", () => {
  for (const value of [undefined, null, 0, -1, 1.5, "100", Infinity, NaN]) {
    assertEquals(fieldRefusedWith({ max_tokens: value }), "max_tokens");
  }
});

Deno.test("messages check requires temperature and top_p from 0 to 1", () => {
  for (const field of ["temperature", "top_p"]) {
    for (const value of [1.01, -0.1, "0.5", Infinity, [], true]) {
      assertEquals(fieldRefusedWith({ [field]: value }), field);
    }
    for (const value of [0, 0.5, 1, null, undefined]) messages.caller.check(bodyWith({ [field]: value }));
  }
});

Deno.test("messages check refuses settings of the wrong type by name", () => {
  const wrong: [field: string, value: unknown][] = [
    ["top_k", "5"],
    ["top_k", Infinity],
    ["stream", "true"],
    ["stop_sequences", "x"],
    ["system", 5],
    ["tools", {}],
    ["tool_choice", "auto"],
    ["metadata", []],
    ["thinking", "on"],
    ["output_config", 1],
    ["messages", {}],
    ["messages", []],
    ["messages", undefined],
  ];
  for (const [field, value] of wrong) assertEquals(fieldRefusedWith({ [field]: value }), field);
  assertEquals(fieldRefusedWith({ stop_sequences: ["a", 1] }), "stop_sequences[1]");
  assertEquals(fieldRefusedWith({ system: [{ type: "text" }] }), "system[0].text");
  assertEquals(fieldRefusedWith({ thinking: {} }), "thinking.type");
  assertEquals(fieldRefusedWith({ thinking: { type: "enabled" } }), "thinking.budget_tokens");
});

Deno.test("messages check names the invalid message or block", () => {
  const faults: [message: [string, unknown], field: string][] = [
    [["wizard", "x"], "messages[0].role"],
    [["user", null], "messages[0].content"],
    [["user", {}], "messages[0].content"],
    [["user", [null]], "messages[0].content[0]"],
    [["user", ["x"]], "messages[0].content[0]"],
    [["user", [{ text: "x" }]], "messages[0].content[0]"],
    [["user", [{ type: "text", text: 5 }]], "messages[0].content[0].text"],
    [["user", [{ type: "image" }]], "messages[0].content[0].source"],
    [["user", [{ type: "image", source: { type: "url" } }]], "messages[0].content[0].source.url"],
    [["user", [{ type: "tool_use", id: "a", name: "b", input: {} }]], "messages[0].content[0]"],
    [["assistant", [{ type: "tool_result", tool_use_id: "a" }]], "messages[0].content[0]"],
    [["assistant", [{ type: "tool_use", name: "b", input: {} }]], "messages[0].content[0].id"],
    [["assistant", [{ type: "tool_use", id: "a", input: {} }]], "messages[0].content[0].name"],
    [["assistant", [{ type: "tool_use", id: "a", name: "b", input: "{}" }]], "messages[0].content[0].input"],
  ];
  for (const [message, field] of faults) assertEquals(fieldRefusedWith(turns(message)), field);
});

Deno.test("messages check rejects images of another type or without valid base64", () => {
  const image = (source: JsonObject) => turns(["user", [{ type: "image", source }]]);
  const fieldOf = (source: JsonObject) => fieldRefusedWith(image({ type: "base64", ...source }));
  assertEquals(fieldOf({ media_type: "text/html", data: "aGk=" }), "messages[0].content[0].source.media_type");
  assertEquals(fieldOf({ media_type: "image/png", data: "<html>" }), "messages[0].content[0].source.data");
  assertEquals(fieldOf({ media_type: "image/png", data: "" }), "messages[0].content[0].source.data");
  const late = "A".repeat(500) + "!" + "A".repeat(10);
  assertEquals(fieldOf({ media_type: "image/png", data: late }), "messages[0].content[0].source.data");
  messages.caller.check(bodyWith(image({ type: "base64", media_type: "image/png", data: "aGk=" })));
});

Deno.test("messages check rejects a result without a call in the previous turn, with its id", () => {
  const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
  const result = { type: "tool_result", tool_use_id: "toolu_2", content: "x" };
  const body = bodyWith(turns(["user", "hi"], ["assistant", [call]], ["user", [result]]));
  const error = assertThrows(() => messages.caller.check(body), GatewayError, "toolu_2");
  assertEquals(error.details.field, "messages[2].content[0].tool_use_id");
  const late = turns(["assistant", [call]], ["user", "no"], ["assistant", "yes"], [
    "user",
    [{ ...result, tool_use_id: "toolu_1" }],
  ]);
  assertEquals(fieldRefusedWith(late), "messages[3].content[0].tool_use_id");
});

Deno.test("messages check accepts results in several messages of one turn, and instructions in between", () => {
  const call = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "x" });
  messages.caller.check(bodyWith(turns(
    ["assistant", [call("a")]],
    ["assistant", [call("b")]],
    ["system", "mind"],
    ["user", [result("b")]],
    ["user", [{ type: "text", text: "and" }, result("a")]],
  )));
});

Deno.test("messages check rejects a choice of a missing tool, unless a set of tools may add it", () => {
  const choice = { tool_choice: { type: "tool", name: "look" } };
  assertEquals(fieldRefusedWith(choice), "tool_choice.name");
  assertEquals(fieldRefusedWith({ ...choice, tools: [{ name: "see", input_schema: {} }] }), "tool_choice.name");
  messages.caller.check(bodyWith({ ...choice, tools: [{ name: "look", input_schema: {} }] }));
  messages.caller.check(bodyWith({ ...choice, tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] }));
  messages.caller.check(bodyWith({ ...choice, mcp_servers: [{}] }));
  assertEquals(fieldRefusedWith({ tool_choice: { type: "tool" } }), "tool_choice.name");
  assertEquals(fieldRefusedWith({ tool_choice: {} }), "tool_choice.type");
  assertEquals(fieldRefusedWith({ tools: [{ input_schema: {} }] }), "tools[0].name");
  assertEquals(fieldRefusedWith({ tools: [{ name: "a", input_schema: "x" }] }), "tools[0].input_schema");
});

Deno.test("messages check accepts unknown fields and blocks", () => {
  messages.caller.check(bodyWith({
    tomorrow: 1,
    extra_body: { provider: { type: "x" } },
    tools: [{ type: "web_search_20300101", name: "web_search" }],
    tool_choice: { type: "sometimes" },
    thinking: { type: "between_tools" },
    ...turns(["user", [{ type: "hologram", of: [1] }]], ["assistant", [{ type: "server_tool_use" }]]),
  }));
});

Deno.test("messages check puts no prompt text into its errors", () => {
  const secret = "my secret prompt";
  const bodies = [
    turns(["user", [{ type: "text", text: [secret] }]]),
    turns([secret, "x"]),
    { stop_sequences: secret },
    { system: { text: secret } },
  ];
  for (const fields of bodies) {
    const error = assertThrows(() => messages.caller.check(bodyWith(fields)), GatewayError);
    assertEquals(error.message.includes(secret), false);
  }
});
