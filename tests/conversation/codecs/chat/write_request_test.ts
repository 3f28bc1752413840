import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import { wireCallId } from "../../../../src/conversation/codecs/chat/shared/names.ts";
import { wireToolName } from "../../../../src/conversation/codecs/chat/shared/names.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import { NO_SAMPLING } from "../../../../src/conversation/neutral/conversation.ts";
import type { Conversation, Part, Tool, Turn } from "../../../../src/conversation/neutral/conversation.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { conversationOf, retarget } from "../../../support/conversations.ts";
import { AUTHOR, VENDOR } from "./conversations.ts";
import type { Loose } from "./conversations.ts";

function write(fields: Partial<Conversation>, target: RequestTarget = AUTHOR) {
  const { body, droppedFields } = chat.upstream.writeRequest(conversationOf(fields), target);
  chat.caller.check(body);
  return { body: body as Loose, droppedFields: [...droppedFields].sort() };
}

const HELLO: Turn = { role: "user", parts: [{ kind: "text", text: "Hi" }] };

function calling(callId: string, tool = "f"): Part & { kind: "tool_call" } {
  return { kind: "tool_call", callId, tool, input: "{}" };
}

function result(callId: string, text: string, more: Partial<Part & { kind: "tool_result" }> = {}): Part {
  return { kind: "tool_result", callId, tool: "f", parts: [{ kind: "text", text }], isError: false, ...more };
}

function fn(name: string, more: Partial<Tool & { kind: "function" }> = {}): Tool {
  return { kind: "function", name, description: null, parameters: null, strict: null, ...more };
}

Deno.test("chat request writer requests usage of every stream, and only of streams", () => {
  assertEquals(write({ stream: true }).body.stream_options, { include_usage: true });
  assertEquals(Object.keys(write({}).body), ["model", "messages"]);
});

Deno.test("chat request writer uses the new limit field for OpenAI and the old one for other vendors", () => {
  assertEquals(write({ maxOutputTokens: 9 }).body.max_completion_tokens, 9);
  assertEquals(write({ maxOutputTokens: 9 }, VENDOR).body.max_tokens, 9);
  assert(!("max_completion_tokens" in write({ maxOutputTokens: 9 }, VENDOR).body));
});

Deno.test("chat request writer writes instructions as system, separate for OpenAI and joined for others", () => {
  const instructions = [{ kind: "text" as const, text: "A" }, { kind: "text" as const, text: "B" }];
  assertEquals(write({ instructions }).body.messages[0], {
    role: "system",
    content: [{ type: "text", text: "A" }, { type: "text", text: "B" }],
  });
  assertEquals(write({ instructions }, VENDOR).body.messages[0], { role: "system", content: "A\n\nB" });
});

Deno.test("chat request writer puts every result right after its call, in the order of the calls", () => {
  const { body } = write({
    turns: [
      HELLO,
      { role: "assistant", parts: [calling("a"), calling("b"), calling("c")] },
      { role: "system", parts: [{ kind: "text", text: "S" }] },
      { role: "user", parts: [result("b", "2"), result("a", "1"), { kind: "text", text: "Go on" }] },
    ],
  });
  const seen = body.messages.map((message: Loose) => [message.role, message.tool_call_id ?? message.content]);
  assertEquals(seen, [
    ["user", "Hi"],
    ["assistant", null],
    ["tool", "a"],
    ["tool", "b"],
    ["tool", "c"],
    ["system", "S"],
    ["user", "Go on"],
  ]);
  assertMatch(body.messages[4].content, /interrupted/);
});

Deno.test("chat request writer writes a result without a call as user text", () => {
  const { body } = write(
    { turns: [{ role: "user", parts: [result("gone", "42"), { kind: "text", text: "Hi" }] }] },
    VENDOR,
  );
  assertEquals(body.messages, [{ role: "user", content: "Result of an earlier call of the tool f:\n\n42\n\nHi" }]);
});

Deno.test("chat request writer gives two calls of one id different ids, each with its result", () => {
  const { body } = write({
    turns: [
      HELLO,
      { role: "assistant", parts: [calling("x")] },
      { role: "user", parts: [result("x", "1")] },
      { role: "assistant", parts: [calling("x")] },
      { role: "user", parts: [result("x", "2")] },
    ],
  });
  const tools = body.messages.filter((message: Loose) => message.role === "tool");
  assertEquals(tools.map((message: Loose) => [message.tool_call_id, message.content]), [["x", "1"], ["x_2", "2"]]);
});

Deno.test("chat request writer matches a result to the latest turn with a call of its id, first call first", () => {
  const { body } = write({
    turns: [
      HELLO,
      { role: "assistant", parts: [calling("x")] },
      HELLO,
      { role: "assistant", parts: [calling("x"), calling("x")] },
      { role: "user", parts: [result("x", "1"), result("x", "2")] },
    ],
  });
  const tools = body.messages.filter((message: Loose) => message.role === "tool");
  assertEquals(tools.slice(1).map((message: Loose) => [message.tool_call_id, message.content]), [["x_2", "1"], [
    "x_3",
    "2",
  ]]);
  assertMatch(tools[0].content, /interrupted/);
});

Deno.test("chat request writer caps ids of calls at 40 characters, on call and result alike", () => {
  const long = "toolu_" + "a".repeat(60);
  const { body } = write({
    turns: [HELLO, { role: "assistant", parts: [calling(long)] }, { role: "user", parts: [result(long, "1")] }],
  });
  const id = body.messages[1].tool_calls[0].id;
  assertEquals(id.length, 40);
  assertEquals(body.messages[2].tool_call_id, id);
  assert(wireCallId(`${long}b`) !== wireCallId(`${long}c`));
});

Deno.test("chat request writer sanitizes invalid names, and returns which", () => {
  const written = chat.upstream.writeRequest(
    conversationOf({
      tools: [fn("mcp.files:read"), fn("plain")],
      toolChoice: { kind: "tool", tool: "mcp.files:read" },
      turns: [HELLO, { role: "assistant", parts: [calling("a", "mcp.files:read")] }],
    }),
    AUTHOR,
  );
  const { body, toolNames } = written as Loose;
  const name = wireToolName("mcp.files:read");
  assertMatch(name, /^mcp_files_read_[0-9a-f]{8}$/);
  assertEquals([...toolNames], [[name, "mcp.files:read"]]);
  assertEquals(body.tools[0].function.name, name);
  assertEquals(body.tool_choice.function.name, name);
  assertEquals(body.messages[1].tool_calls[0].function.name, name);
  assertEquals(wireToolName("n".repeat(65)).length, 64);
});

Deno.test("chat request writer moves images of a result to the next user message and refers to it", () => {
  const image: Part = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } };
  const { body, droppedFields } = write({
    turns: [
      HELLO,
      { role: "assistant", parts: [calling("a")] },
      { role: "user", parts: [{ ...result("a", "seen"), parts: [image] } as Part, { kind: "text", text: "So?" }] },
    ],
  });
  assertEquals(droppedFields, ["tool_result_image"]);
  assertEquals(body.messages[2], { role: "tool", tool_call_id: "a", content: "(1 attached to the next user message)" });
  assertEquals(body.messages[3].content.map((part: Loose) => part.type), ["text", "image_url", "text"]);
});

Deno.test("chat request writer marks a failed tool's text, unless it is obvious", () => {
  const content = (text: string) =>
    write({
      turns: [
        HELLO,
        { role: "assistant", parts: [calling("a")] },
        { role: "user", parts: [result("a", text, { isError: true })] },
      ],
    });
  assertEquals(content("no such file").body.messages[2].content, "Error: no such file");
  assertEquals(content("Error: gone").body.messages[2].content, "Error: gone");
  assertEquals(content("x").droppedFields, ["tool_error"]);
});

Deno.test("chat request writer keeps thoughts from the author and from vendors outside of a tool loop", () => {
  const thought: Part = { kind: "reasoning", text: "hm", signature: { format: "messages", issuer: "a", value: "s" } };
  const turns: Turn[] = [
    HELLO,
    { role: "assistant", parts: [thought, calling("a")] },
    { role: "user", parts: [result("a", "1")] },
  ];
  const inLoop = write({ turns }, VENDOR);
  assertEquals(inLoop.body.messages[1].reasoning_content, "hm");
  assertEquals(inLoop.droppedFields, ["reasoning_signature"]);
  const after = write(
    { turns: [...turns, { role: "assistant", parts: [{ kind: "text", text: "1" }] }, HELLO] },
    VENDOR,
  );
  assert(!("reasoning_content" in after.body.messages[1]));
  assertEquals(after.droppedFields, ["reasoning_signature", "reasoning_text"]);
  assert(!("reasoning_content" in write({ turns }).body.messages[1]));
  assertEquals(write({ turns }).droppedFields, ["reasoning_signature", "reasoning_text"]);
});

Deno.test("chat request writer hands its own vendor's sealed thoughts back unchanged, and no other's", () => {
  const detail = { type: "reasoning.text", text: "hm", signature: "sig", format: "f-v1", index: 0 };
  const body = { choices: [{ message: { reasoning: "hm", reasoning_details: [detail], content: "Yes" } }] };
  const [thought, text] = chat.upstream.readReply(body).parts;
  const signedBy = (issuer: string): Part =>
    ({ ...thought, signature: { ...(thought as Loose).signature, issuer } }) as Part;
  const sent = (issuer: string) =>
    write({ turns: [HELLO, { role: "assistant", parts: [signedBy(issuer), text as Part] }] }, VENDOR).body.messages[1];
  assertEquals(sent("vendor").reasoning_details, [detail]);
  assertEquals(sent("other").reasoning_details, undefined);
});

Deno.test("chat request writer returns a call's proof to its issuer alone", () => {
  const proof = (issuer: string) =>
    write({
      turns: [HELLO, {
        role: "assistant",
        parts: [{ ...calling("a"), signature: { format: "chat", issuer, value: "sig" } }],
      }],
    }, VENDOR).body.messages[1].tool_calls[0].extra_content;
  assertEquals(proof("vendor"), { google: { thought_signature: "sig" } });
  assertEquals(proof("other"), undefined);
});

Deno.test("chat request writer drops a turn that held thoughts alone", () => {
  const { body } = write({ turns: [HELLO, { role: "assistant", parts: [{ kind: "reasoning", text: "hm" }] }, HELLO] });
  assertEquals(body.messages.map((message: Loose) => message.role), ["user", "user"]);
});

Deno.test("chat request writer always sends a message", () => {
  assertEquals(write({ turns: [] }).body.messages, [{ role: "user", content: "Continue" }]);
});

Deno.test("chat request writer gives the author's reasoning models no sampling that they refuse", () => {
  const sampling = { ...NO_SAMPLING, temperature: 0.5, topP: 1, stop: ["x"], seed: 3 };
  const gpt5 = retarget(AUTHOR, { model: "gpt-5-mini" });
  const { body, droppedFields } = write({ sampling }, gpt5);
  assertEquals(droppedFields, ["stop", "temperature"]);
  assertEquals(Object.keys(body), ["model", "messages", "seed"]);
  const plain = write({ sampling: { ...sampling, topK: 3, stop: ["a", "b", "c", "d", "e"] } });
  assertEquals(plain.droppedFields, ["stop", "top_k"]);
  assertEquals([plain.body.temperature, plain.body.stop.length], [0.5, 4]);
});

Deno.test("chat request writer asks for thought in words that the model has", () => {
  const effort = (wanted: Loose, target: RequestTarget) =>
    write({ reasoning: { effort: null, budgetTokens: null, visible: null, ...wanted } }, target).body.reasoning_effort;
  const model = (name: string) => retarget(AUTHOR, { model: name });
  assertEquals(effort({ effort: "xhigh" }, model("gpt-5.2")), "xhigh");
  assertEquals(effort({ effort: "none" }, model("gpt-5.2")), "none");
  assertEquals(effort({ effort: "none" }, model("gpt-5-nano")), "minimal");
  assertEquals(effort({ effort: "minimal" }, model("openai/gpt-5.1")), "low");
  assertEquals(effort({ effort: "max" }, model("gpt-5-pro")), "high");
  assertEquals(effort({ effort: "none" }, model("o3")), "low");
  assertEquals(effort({ effort: "high" }, model("gpt-4o")), undefined);
  assertEquals(effort({ effort: "max" }, VENDOR), "high");
  assertEquals(effort({ effort: "minimal" }, VENDOR), "low");
  assertEquals(effort({ effort: "none" }, VENDOR), undefined);
  assertEquals(effort({ budgetTokens: 3_200 }, model("o3")), "low");
  assertEquals(effort({ budgetTokens: 31_999 }, model("o3")), "high");
});

Deno.test("chat request writer offers other vendors a custom tool as a function with one text", () => {
  const tools: Tool[] = [{ kind: "custom", name: "sh", description: "runs", format: null }];
  const turns: Turn[] = [HELLO, { role: "assistant", parts: [{ ...calling("a", "sh"), input: "ls", custom: true }] }];
  const { body, droppedFields } = write({ tools, turns, toolChoice: { kind: "tool", tool: "sh" } }, VENDOR);
  assertEquals(droppedFields, []);
  assertEquals(body.tools[0].function.parameters.required, ["input"]);
  assertEquals(body.tool_choice, { type: "function", function: { name: "sh" } });
  assertEquals(body.messages[1].tool_calls[0].function, { name: "sh", arguments: '{"input":"ls"}' });
  assertEquals(write({ tools, turns }).body.messages[1].tool_calls[0].custom, { name: "sh", input: "ls" });
});

Deno.test("chat request writer repairs schemas that the author refuses", () => {
  const parameters = (schema: Tool & { kind: "function" } extends { parameters: infer P } ? P : never) => {
    const { body, droppedFields } = write({ tools: [fn("f", { parameters: schema, strict: true })] });
    return [body.tools[0].function.parameters, body.tools[0].function.strict, droppedFields];
  };
  assertEquals(parameters({}), [{ type: "object", properties: {} }, false, ["tool_strict"]]);
  assertEquals(
    parameters({
      anyOf: [{ type: "object", properties: { a: {} }, required: ["a"] }, { type: "object", properties: { b: {} } }],
    }),
    [{ type: "object", properties: { a: {}, b: {} } }, false, ["tool_schema", "tool_strict"]],
  );
  assertEquals(parameters({ type: "array" })[2], ["tool_schema", "tool_strict"]);
  const closed = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  assertEquals(parameters(closed), [closed, true, []]);
  assertEquals(write({ tools: [fn("f")] }, VENDOR).body.tools[0].function.parameters, {
    type: "object",
    properties: {},
  });
});

Deno.test("chat request writer asks for no strictness of an answer whose top is no object", () => {
  const format = { kind: "json_schema", name: "n", description: null, strict: true } as const;
  for (const schema of [{ type: "array", items: { type: "string" } }, { anyOf: [{ type: "null" }] }]) {
    const { body, droppedFields } = write({ outputFormat: { ...format, schema } });
    assertEquals([body.response_format.json_schema.strict, droppedFields], [false, ["output_strict"]]);
  }
});

Deno.test("chat request writer puts the rest of a long description into the system message", () => {
  const description = "d".repeat(1_000) + "e".repeat(1_000);
  const { body, droppedFields } = write({ tools: [fn("f", { description })] });
  const cut = body.tools[0].function.description;
  assert(cut.length <= 1_024);
  const kept = cut.slice(0, cut.indexOf(" … "));
  assertEquals(kept + body.messages[0].content.split("f, continued: ")[1], description);
  assertEquals(droppedFields, []);
  assertEquals(write({ tools: [fn("f", { description })] }, VENDOR).body.tools[0].function.description, description);
});

Deno.test("chat request writer narrows the tools for vendors that cannot allow a subset", () => {
  const tools = [fn("a"), fn("b")];
  const toolChoice = { kind: "allowed" as const, mode: "required" as const, tools: ["b"] };
  const vendor = write({ tools, toolChoice }, VENDOR).body;
  assertEquals([vendor.tools.length, vendor.tools[0].function.name, vendor.tool_choice], [1, "b", "required"]);
  assertEquals(write({ tools, toolChoice }).body.tool_choice, {
    type: "allowed_tools",
    allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "b" } }] },
  });
});

Deno.test("chat request writer names no choice where no tool is left", () => {
  const { body, droppedFields } = write({ toolChoice: { kind: "required" }, parallelToolCalls: true });
  assertEquals(Object.keys(body), ["model", "messages"]);
  assertEquals(droppedFields.toSorted(), ["parallel_tool_calls", "tool_choice"]);
});

Deno.test("chat request writer speaks of JSON where the format wants it and nobody did", () => {
  const outputFormat = { kind: "json" as const };
  assertMatch(write({ outputFormat }).body.messages[0].content, /JSON/);
  const turns: Turn[] = [{ role: "user", parts: [{ kind: "text", text: "Answer in json" }] }];
  assertEquals(write({ outputFormat, turns }).body.messages.length, 1);
});

Deno.test("chat request writer shows text files as text and refuses what the author cannot be shown", () => {
  const text: Part = {
    kind: "file",
    source: { kind: "base64", mediaType: "text/plain", data: btoa("inside") },
    name: "a.txt",
  };
  assertEquals(write({ turns: [{ role: "user", parts: [text] }] }).body.messages[0].content, "a.txt:\ninside");
  const url = { kind: "url" as const, url: "https://example.com/a", mediaType: null };
  const shown: Part[] = [{ kind: "video", source: url }, { kind: "file", source: url, name: null }, {
    kind: "audio",
    source: { kind: "base64", mediaType: "audio/ogg", data: "AAAA" },
  }];
  for (const part of shown) {
    const turns: Turn[] = [{ role: "user", parts: [part] }];
    const error = assertThrows(() => write({ turns }), GatewayError);
    assertEquals(error.code, "invalid_request");
    assertEquals(write({ turns }, VENDOR).droppedFields, []);
  }
});

Deno.test("chat request writer reports marks and hints that the target has no word for", () => {
  const cache = { ttl: null };
  const turns: Turn[] = [{ role: "user", parts: [{ kind: "text", text: "Hi", cache }] }];
  assertEquals(write({ turns, tools: [fn("f", { cache })] }).droppedFields, ["cache_control"]);
  assertEquals(write({ cacheKey: "k", verbosity: "low" }, VENDOR).droppedFields, ["prompt_cache_key", "verbosity"]);
  assertEquals(write({ user: "u".repeat(65) }).body.user.length, 21);
  assertEquals(write({ cacheKey: "k".repeat(64) }).body.prompt_cache_key, "k".repeat(64));
  assertEquals(write({ cacheKey: "k".repeat(65) }).body.prompt_cache_key.length, 64);
});

Deno.test("chat request writer repeats the assistant's pictures in the user's next message", () => {
  const image: Part = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } };
  const { body, droppedFields } = write({ turns: [HELLO, { role: "assistant", parts: [image] }, HELLO] });
  assertEquals(droppedFields, ["image"]);
  assertEquals(body.messages.map((message: Loose) => message.role), ["user", "user"]);
  assertEquals(body.messages[1].content.map((part: Loose) => part.type), ["text", "image_url", "text"]);
});
