import { assert, assertEquals, assertThrows } from "@std/assert";
import type { ConverseCommandInput } from "@aws-sdk/client-bedrock-runtime";
import { converse } from "../../../../src/conversation/codecs/converse/mod.ts";
import type { Conversation, Part, Turn } from "../../../../src/conversation/neutral/conversation.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { checkConverse } from "../../../../src/sandbox/families/bedrock/bedrock_converse_rules.ts";
import { conversationOf, targetOf } from "../../../support/conversations.ts";

const NOVA = targetOf({ model: "us.amazon.nova-2-lite-v1:0", provider: "bedrock" });
const LLAMA = targetOf({ model: "meta.llama3-3-70b-instruct-v1:0", provider: "bedrock" });
const GPT_OSS = targetOf({ model: "openai.gpt-oss-120b-1:0", provider: "bedrock" });
const PNG = "iVBORw0KGgo=";
const CACHE = { ttl: null };

/** A written request, whose members have the names that the vendor's own client has. */
type Body = Partial<Record<keyof ConverseCommandInput, unknown>>;

function written(fields: Partial<Conversation>, target = NOVA) {
  const { body, droppedFields, toolNames } = converse.upstream.writeRequest(conversationOf(fields), target);
  const sent: JsonObject = JSON.parse(JSON.stringify(body));
  checkConverse(sent);
  return { body: sent as Body & JsonObject, dropped: droppedFields.toSorted(), toolNames };
}

const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const assistant = (...parts: Part[]): Turn => ({ role: "assistant", parts });
const text = (value: string): Part => ({ kind: "text", text: value });
const file = (name: string | null, mediaType = "application/pdf"): Part => ({
  kind: "file",
  source: { kind: "base64", mediaType, data: "aGk=" },
  name,
});
const WEATHER = { kind: "function", name: "weather", description: "Tells", parameters: null, strict: null } as const;
const call = (callId: string, tool = "weather"): Part => ({
  kind: "tool_call",
  callId,
  tool,
  input: '{"city":"Bern"}',
});
const result = (callId: string, fields: object = {}): Part => ({
  kind: "tool_result",
  callId,
  tool: "weather",
  parts: [{ kind: "text", text: "sunny" }],
  isError: false,
  ...fields,
});

Deno.test("converse codec: a text, its instructions and settings", () => {
  const { body, dropped } = written({
    instructions: [{ kind: "text", text: "Be brief" }],
    maxOutputTokens: 100,
    sampling: { ...conversationOf().sampling, temperature: 0.5, topP: 0.9, stop: ["END"] },
    serviceTier: "standard",
    metadata: { team: "a", cost: "b/c" },
  });
  assertEquals(body, {
    messages: [{ role: "user", content: [{ text: "Hi" }] }],
    system: [{ text: "Be brief" }],
    inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
    serviceTier: { type: "default" },
    requestMetadata: { team: "a", cost: "b/c" },
  });
  assertEquals(dropped, []);
});

Deno.test("converse codec: media are bytes with their format", () => {
  const { body } = written({
    turns: [user(
      text("See"),
      { kind: "image", source: { kind: "base64", mediaType: "image/jpg", data: PNG } },
      { kind: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "aGk=" } },
      { kind: "video", source: { kind: "base64", mediaType: "video/quicktime", data: "aGk=" } },
      file("report.pdf"),
      { kind: "file", source: { kind: "base64", mediaType: "image/png", data: PNG }, name: null },
    )],
  });
  assertEquals(body.messages, [{
    role: "user",
    content: [
      { text: "See" },
      { image: { format: "png", source: { bytes: PNG } } },
      { audio: { format: "mp3", source: { bytes: "aGk=" } } },
      { video: { format: "mov", source: { bytes: "aGk=" } } },
      { document: { format: "pdf", name: "report", source: { bytes: "aGk=" } } },
      { image: { format: "png", source: { bytes: PNG } } },
    ],
  }]);
});

Deno.test("converse codec: documents have names that the vendor accepts, each once, and a text beside them", () => {
  const names = [null, null, "a.pdf", "a.pdf", "a 2.pdf", "Q3: Grüße!.pdf", "x".repeat(300), "data.json"];
  const types = names.map((name) => name === "data.json" ? "application/json" : "application/pdf");
  const { body, dropped } = written({ turns: [user(...names.map((name, index) => file(name, types[index])))] });
  const [{ content }] = body.messages as [{ content: JsonObject[] }];
  assertEquals(content.at(-1), { text: "." });
  const documents = content.flatMap(({ document }) => document ? [document as { name: string; format: string }] : []);
  assertEquals(documents.map(({ name }) => name), [
    "document",
    "document 2",
    "a",
    "a 2",
    "a 2 2",
    "Q3- Gr--e-",
    "x".repeat(180),
    "data",
  ]);
  assertEquals(documents.at(-1)?.format, "txt");
  assertEquals(dropped, ["file_name"]);
});

Deno.test("converse codec: media that the format lacks are refused by name", () => {
  for (
    const [part, field] of [
      [{ kind: "image", source: { kind: "base64", mediaType: "image/bmp", data: "Qk0=" } }, "image"],
      [{ kind: "audio", source: { kind: "base64", mediaType: "audio/midi", data: "aGk=" } }, "audio"],
      [{ kind: "video", source: { kind: "base64", mediaType: "video/x", data: "aGk=" } }, "video"],
      [file("a", "application/zip"), "file"],
      [{ kind: "image", source: { kind: "url", url: "gs://bucket/a.png", mediaType: null } }, "image"],
    ] as const
  ) {
    const error = assertThrows(() => written({ turns: [user(text("See"), part)] }), GatewayError);
    assertEquals([error.code, error.details.field], ["invalid_request", field]);
  }
});

Deno.test("converse codec: calls and results are paired, with names and ids in the vendor's alphabet", () => {
  const long = "a tool with a name that is much longer than the sixty-four characters of the vendor";
  const { body, toolNames, dropped } = written({
    tools: [{ ...WEATHER, name: long, cache: CACHE }],
    turns: [
      user(text("Weather?")),
      assistant(call("call 1", long), call("call_2", long)),
      user(result("call_2", { isError: true }), result("call 1", { tool: long }), text("And?")),
    ],
  });
  const [, { content: calls }, { content: results }] = body.messages as {
    content: { [name: string]: JsonObject }[];
  }[] as [
    unknown,
    { content: { [name: string]: JsonObject }[] },
    { content: { [name: string]: JsonObject }[] },
  ];
  const ids = calls.map(({ toolUse }) => toolUse?.toolUseId);
  assertEquals(results.slice(0, 2).map(({ toolResult }) => toolResult?.toolUseId), ids);
  assertEquals(results.map(({ toolResult }) => toolResult?.status), [undefined, "error", undefined]);
  assertEquals([...(toolNames ?? [])].map(([, name]) => name), [long]);
  assertEquals(calls[0]?.toolUse?.input, { city: "Bern" });
  assertEquals(dropped, ["cache_control"]);
});

Deno.test("converse codec: the choice among tools", () => {
  const choiceOf = (toolChoice: Conversation["toolChoice"], turns?: Turn[]) => {
    const { body, dropped } = written({
      tools: [WEATHER, { ...WEATHER, name: "time" }],
      toolChoice,
      ...(turns && { turns }),
    });
    const config = body.toolConfig as { toolChoice?: JsonObject; tools: unknown[] } | undefined;
    return [config?.toolChoice ?? null, config?.tools.length ?? 0, dropped];
  };
  const called = [user(text("?")), assistant(call("c")), user(result("c"))];
  assertEquals(choiceOf(null), [null, 2, []]);
  assertEquals(choiceOf({ kind: "auto" }), [{ auto: {} }, 2, []]);
  assertEquals(choiceOf({ kind: "required" }), [{ any: {} }, 2, []]);
  assertEquals(choiceOf({ kind: "tool", tool: "time" }), [{ tool: { name: "time" } }, 2, []]);
  assertEquals(choiceOf({ kind: "tool", tool: "nothing" }), [{ auto: {} }, 2, ["tool_choice"]]);
  assertEquals(choiceOf({ kind: "none" }), [null, 0, []]);
  assertEquals(choiceOf({ kind: "none" }, called), [{ auto: {} }, 2, ["tool_choice"]]);
  assertEquals(choiceOf({ kind: "allowed", mode: "required", tools: ["time"] }), [{ any: {} }, 1, []]);
  assertEquals(choiceOf({ kind: "allowed", mode: "auto", tools: ["x"] }), [{ auto: {} }, 2, ["tool_choice"]]);
});

Deno.test("converse codec: a history with calls has a definition of its tools", () => {
  const { body } = written({ turns: [user(text("?")), assistant(call("c")), user(result("c"))] });
  assertEquals(body.toolConfig, {
    tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object", properties: {} } } } }],
  });
});

Deno.test("converse codec: only the provider's own reasoning is sent back", () => {
  const reasoning = (issuer: string | null, format: "converse" | "messages" = "converse"): Part => ({
    kind: "reasoning",
    text: "Hm",
    signature: { format, issuer, value: "c2lnbmF0dXJl" },
  });
  const sent = (...parts: Part[]) => {
    const { body, droppedFields } = converse.upstream.writeRequest(
      conversationOf({ turns: [user(text("?")), assistant(...parts, text("So")), user(text("And?"))] }),
      NOVA,
    );
    const [, { content }] = body.messages as [unknown, { content: JsonObject[] }];
    return [content.slice(0, -1), droppedFields.toSorted()];
  };
  const own = { reasoningContent: { reasoningText: { text: "Hm", signature: "c2lnbmF0dXJl" } } };
  assertEquals(sent(reasoning("bedrock"), reasoning(null)), [[own, own], []]);
  assertEquals(sent(reasoning("other"), reasoning(null, "messages")), [[], ["reasoning_signature", "reasoning_text"]]);
  const redacted = {
    kind: "reasoning",
    text: "",
    redacted: true,
    signature: { format: "converse", issuer: "bedrock", value: "eA==" },
  };
  assertEquals(sent(redacted as Part), [[{ reasoningContent: { redactedContent: "eA==" } }], []]);
});

Deno.test("converse codec: marks for the cache, for models that have them, at most four", () => {
  const marked = (value: string) => ({ kind: "text" as const, text: value, cache: CACHE });
  const point = { cachePoint: { type: "default" } };
  const fields = {
    instructions: [marked("one"), marked("two")],
    turns: [user(marked("three"), marked("four"), { ...marked("five"), cache: { ttl: "1h" as const } })],
  };
  const nova = written(fields);
  assertEquals(nova.body.system, [{ text: "one" }, { text: "two" }, point]);
  assertEquals(nova.body.messages, [
    { role: "user", content: [{ text: "three" }, point, { text: "four" }, point, { text: "five" }, point] },
  ]);
  assertEquals(nova.dropped, ["cache_control"]);
  const llama = written({ instructions: [marked("one")] }, LLAMA);
  assertEquals([llama.body.system, llama.dropped], [[{ text: "one" }], ["cache_control"]]);
});

Deno.test("converse codec: reasoning in the fields of the model's family", () => {
  const fieldsOf = (reasoning: Partial<NonNullable<Conversation["reasoning"]>>, target = NOVA) => {
    const whole = { effort: null, budgetTokens: null, visible: null, ...reasoning };
    const { body, dropped } = written({ reasoning: whole, maxOutputTokens: 10_000 }, target);
    return [body.additionalModelRequestFields ?? null, dropped];
  };
  const nova = (maxReasoningEffort: string) => ({ reasoningConfig: { type: "enabled", maxReasoningEffort } });
  assertEquals(fieldsOf({ effort: "low" }), [nova("low"), []]);
  assertEquals(fieldsOf({ effort: "high" }), [nova("medium"), []]);
  assertEquals(fieldsOf({ budgetTokens: 500 }), [nova("low"), []]);
  assertEquals(fieldsOf({ effort: "low", budgetTokens: 9_000 }), [nova("low"), ["reasoning_budget"]]);
  assertEquals(fieldsOf({ effort: "none" }), [{ reasoningConfig: { type: "disabled" } }, []]);
  assertEquals(fieldsOf({ visible: false }), [nova("medium"), ["reasoning_visibility"]]);
  assertEquals(fieldsOf({ effort: "high" }, GPT_OSS), [{ reasoning_effort: "high" }, []]);
  assertEquals(fieldsOf({ effort: "none" }, GPT_OSS), [{ reasoning_effort: "low" }, ["reasoning"]]);
  assertEquals(fieldsOf({ effort: "low" }, LLAMA), [null, ["reasoning"]]);
  assertEquals(fieldsOf({ effort: "none" }, LLAMA), [null, []]);
});

Deno.test("converse codec: a schema is enforced where the model can, else described", () => {
  const outputFormat = {
    kind: "json_schema",
    name: "the answer",
    description: "An answer",
    schema: { type: "object", properties: { a: { type: "string" } } },
    strict: null,
  } as const;
  const enforced = written({ outputFormat, tools: [{ ...WEATHER, strict: true }] }, GPT_OSS);
  const { textFormat } = enforced.body.outputConfig as { textFormat: { structure: { jsonSchema: JsonObject } } };
  const { schema, ...named } = textFormat.structure.jsonSchema;
  assertEquals(named, { name: "the_answer", description: "An answer" });
  assertEquals(JSON.parse(String(schema)).additionalProperties, false);
  assertEquals((enforced.body.toolConfig as { tools: [{ toolSpec: JsonObject }] }).tools[0].toolSpec.strict, true);
  assertEquals(enforced.dropped, []);
  for (const format of [outputFormat, { kind: "json" } as const]) {
    const described = written({ outputFormat: format, tools: [{ ...WEATHER, strict: true }] });
    assertEquals(described.body.outputConfig, undefined);
    assert(JSON.stringify(described.body.system).includes("JSON"));
    assertEquals(described.dropped, ["output_format", "tool_strict"]);
  }
});

Deno.test("converse codec: what the format lacks is named", () => {
  const { body, dropped } = written({
    sampling: {
      ...conversationOf().sampling,
      temperature: 1.5,
      topK: 5,
      presencePenalty: 1,
      frequencyPenalty: 1,
      seed: 1,
    },
    user: "u",
    cacheKey: "k",
    verbosity: "low",
    logprobs: 2,
    parallelToolCalls: false,
    serviceTier: "scale",
    metadata: { "": "x", list: [1], emoji: "😀", fine: "yes" },
    defaultSettings: { prompt_cache_retention: "24h" },
    maxOutputTokens: 900,
  }, { ...LLAMA, maxOutputTokens: 500 });
  assertEquals(body.inferenceConfig, { maxTokens: 500, temperature: 1 });
  assertEquals(body.requestMetadata, { fine: "yes" });
  assertEquals(dropped, [
    "frequency_penalty",
    "logprobs",
    "max_tokens",
    "metadata",
    "parallel_tool_calls",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "seed",
    "service_tier",
    "temperature",
    "top_k",
    "user",
    "verbosity",
  ]);
});

Deno.test("converse codec: topK goes to the family's own field", () => {
  const { body, dropped } = written({ sampling: { ...conversationOf().sampling, topK: 5 } });
  assertEquals([body.additionalModelRequestFields, dropped], [{ inferenceConfig: { topK: 5 } }, []]);
});

Deno.test("converse codec: turns alternate, begin with the user and end as the model accepts", () => {
  const textsOf = (turns: Turn[], target = NOVA) => {
    const { body, dropped } = written({ turns }, target);
    const messages = body.messages as { role: string; content: { text?: string }[] }[];
    return [messages.map(({ role, content }) => `${role}: ${content.map(({ text }) => text).join("|")}`), dropped];
  };
  assertEquals(textsOf([assistant(text("Hello"))]), [["user: .", "assistant: Hello"], ["turn_order"]]);
  assertEquals(textsOf([user(text("?")), assistant(text("So "))]), [["user: ?", "assistant: So"], []]);
  assertEquals(textsOf([user(text("?")), assistant(text("So"))], LLAMA), [
    ["user: ?", "assistant: So", "user: Continue."],
    ["turn_order"],
  ]);
  const system: Turn = { role: "system", parts: [text("Now brief")] };
  assertEquals(textsOf([user(text("?")), system, user(text(" "), text("!"))]), [
    ["user: ?|<system-reminder>\nNow brief\n</system-reminder>|!"],
    ["system_turn"],
  ]);
});

Deno.test("converse codec: a search that the request depends on is refused, and any other is named", () => {
  const webSearch = {
    name: "tools.web_search",
    field: "tools",
    maxUses: null,
    allowedDomains: null,
    blockedDomains: null,
    contextSize: null,
    userLocation: null,
    isForced: false,
    sent: { format: "chat", tool: {} },
    names: {},
    unsupportedFields: [],
  } as unknown as NonNullable<Conversation["webSearch"]>;
  assertThrows(() => written({ webSearch }), GatewayError, "web search is not available");
  assertEquals(written({ webSearch, tools: [WEATHER] }).dropped, ["tools.web_search"]);
});
