import { assert, assertEquals } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;

/** What the vendor received, as text and as a value. */
let sentText = "";
let sent: Json = null;
/** The number of characters in each piece of a streamed call. */
let pieceLength = 7;
/** The number of characters of a call that are left out, as at the limit of tokens. */
let cutCharacters = 0;

/** Anthropic: refuses other names of properties, and calls its first tool with a value for each property. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  sentText = await request.text();
  sent = JSON.parse(sentText);
  const bad = (sent.tools ?? []).findIndex((tool: Json) =>
    namesIn(tool.input_schema).some((name) => !ACCEPTED.test(name))
  );
  if (bad >= 0) {
    const message =
      `tools.${bad}.custom.input_schema.properties: Property keys should match pattern '${ACCEPTED.source}'`;
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
  }
  const [tool] = sent.tools;
  const whole = argumentsFor(tool.input_schema, tool.input_schema);
  const input = whole.slice(0, whole.length - cutCharacters);
  const stop = { stop_reason: cutCharacters > 0 ? "max_tokens" : "tool_use", stop_sequence: null };
  if (sent.stream !== true) {
    const block = `{"type":"tool_use","id":"toolu_1","name":${JSON.stringify(tool.name)},"input":${input}}`;
    const usage = `"usage":{"input_tokens":10,"output_tokens":5}`;
    const head = `"id":"msg_1","type":"message","role":"assistant","model":"m","content":[${block}]`;
    return new Response(`{${head},"stop_reason":"tool_use","stop_sequence":null,${usage}}`, {
      headers: { "content-type": "application/json" },
    });
  }
  const pieces = input.match(new RegExp(`[^]{1,${pieceLength}}`, "g")) ?? [];
  const events = [
    { type: "message_start", message: message() },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "content_block_ {" } },
    { type: "content_block_stop", index: 0 },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "toolu_1", name: tool.name, input: {} },
    },
    ...pieces.map((partial_json) => ({
      type: "content_block_delta",
      index: 1,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: stop, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  return new Response(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
});

function message(): Json {
  const usage = { input_tokens: 10, output_tokens: 1 };
  return { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage };
}

/** The names of properties at every depth. */
function namesIn(schema: Json): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const inner = [schema.properties, schema.$defs].flatMap((group) => Object.values(group ?? {}));
  return [
    ...Object.keys(schema.properties ?? {}),
    ...[...inner, schema.items, ...(schema.anyOf ?? [])].flatMap(namesIn),
  ];
}

/** More digits than a number of JavaScript has. */
const DIGITS = "2512292042121000123";

/** Arguments that a schema allows, as JSON text. */
function argumentsFor(schema: Json, root: Json): string {
  if (schema.$ref) return argumentsFor(root.$defs[schema.$ref.slice("#/$defs/".length)], root);
  if (schema.anyOf) return argumentsFor(schema.anyOf[0], root);
  if (schema.type === "array") return `[${argumentsFor(schema.items, root)}, ${argumentsFor(schema.items, root)}]`;
  if (!schema.properties) return schema.type === "integer" ? DIGITS : '"a \\" : { 😀"';
  const members = Object.entries(schema.properties).map(([name, each]) =>
    `${JSON.stringify(name)} : ${argumentsFor(each, root)}`
  );
  return `{ ${members.join(",\n")} }`;
}

const gateway = await startTestGateway({
  config: {
    providers: {
      anthropic: { kind: "anthropic", base_url: `http://127.0.0.1:${vendor.addr.port}`, api_key: "k" },
      other: {
        kind: "anthropic",
        base_url: `http://127.0.0.1:${vendor.addr.port}`,
        api_key: "k",
        quirks: ["any_property_names"],
      },
    },
    models: [
      { ...textModel("anthropic/claude-opus-4-8", ["anthropic"]), pricing: PRICING },
      { ...textModel("other/any-model", ["other"]), pricing: PRICING },
    ],
  },
});

interface Got {
  readonly status: number;
  readonly text: string;
  readonly dropped: string | null;
}

async function post(path: string, body: Json): Promise<Got> {
  const response = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), dropped: response.headers.get("x-service-dropped") };
}

const MODEL = "anthropic/claude-opus-4-8";
const HI = { role: "user", content: "hi" };

const chat = (schema: Json, fields: Json = {}) =>
  post("/v1/chat/completions", {
    model: MODEL,
    messages: [HI],
    tools: [{ type: "function", function: { name: "f", parameters: schema } }],
    ...fields,
  });
const messages = (schema: Json, fields: Json = {}) =>
  post("/msgcompat/v1/messages", {
    model: MODEL,
    max_tokens: 500,
    messages: [HI],
    tools: [{ name: "f", input_schema: schema }],
    ...fields,
  });

/** The values of the frames of a stream. */
function framesOf(text: string): Json[] {
  return text.split("\n\n").flatMap((frame) => {
    const data = frame.split("\n").find((line) => line.startsWith("data: {"));
    return data === undefined ? [] : [JSON.parse(data.slice(6))];
  });
}

/** The arguments of the call in a reply, as JSON text. */
const ARGUMENTS: Readonly<Record<string, (text: string) => string>> = {
  chat: (text) => JSON.parse(text).choices[0].message.tool_calls[0].function.arguments,
  messages: (text) => /"input":(\{[^]*\})\}\]/.exec(text)?.[1] ?? "",
  "chat stream": (text) =>
    framesOf(text).map((chunk) => chunk.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? "").join(""),
  "messages stream": (text) => framesOf(text).map((event) => event.delta?.partial_json ?? "").join(""),
};

function obj(properties: Json, more: Json = {}): Json {
  return { type: "object", properties, ...more };
}

const INTEGER = { type: "integer" };
const LONG = "n".repeat(70);

/** Schemas with names that the vendor refuses. */
const SCHEMAS: readonly (readonly [what: string, schema: Json])[] = [
  ["a dollar", obj({ $top: INTEGER }, { required: ["$top"] })],
  ["brackets", obj({ "filter[id]": INTEGER, "filter(id)": INTEGER, filter: INTEGER }, { required: ["filter[id]"] })],
  ["a space", obj({ "a b": INTEGER, a_b: INTEGER })],
  ["70 characters", obj({ [LONG]: INTEGER, [`${LONG}x`]: INTEGER })],
  ["other scripts", obj({ "名前": { type: "string" }, "名字": { type: "string" }, 'é\\"\n': INTEGER, "😀": INTEGER })],
  ["an empty name", obj({ "": INTEGER })],
  ["nested objects", obj({ a: obj({ "b c": obj({ "d/e": INTEGER }, { required: ["d/e"] }) }) })],
  ["arrays", obj({ list: { type: "array", items: obj({ "x y": INTEGER }) } })],
  ["alternatives", obj({ a: { anyOf: [obj({ "x y": INTEGER }, { required: ["x y"] }), { type: "null" }] } })],
  [
    "definitions",
    obj({ a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/A" } }, { $defs: { A: obj({ "x:y": INTEGER }) } }),
  ],
  ["names of objects", obj({ "__proto__": INTEGER, "constructor ": INTEGER })],
];

for (const [what, schema] of SCHEMAS) {
  const expected = argumentsFor(schema, schema);
  Deno.test(`property names with ${what}: the vendor takes the request, and callers get their own`, async () => {
    for (const [name, ask] of [["chat", chat], ["messages", messages]] as const) {
      const whole = await ask(schema);
      assertEquals(whole.status, 200, `${name}: ${whole.text}`);
      assertEquals(whole.dropped, null);
      const received = ARGUMENTS[name]!(whole.text);
      assertEquals(JSON.parse(received), JSON.parse(expected), name);
      if (name === "messages") assertEquals(received, expected, "only the names change");
      const required = sent.tools[0].input_schema.required ?? [];
      assert(required.every((each: string) => Object.hasOwn(sent.tools[0].input_schema.properties, each)));
      for (pieceLength of [1, 2, 3, 7, 50, 5_000]) {
        const streamed = await ask(schema, { stream: true });
        assertEquals(ARGUMENTS[`${name} stream`]!(streamed.text), expected, `${name} in pieces of ${pieceLength}`);
      }
    }
  });
}

Deno.test("property names in earlier calls are those of the schema, and stay the same", async () => {
  const schema = obj({ $top: INTEGER, "q r": obj({ "$skip": INTEGER }) });
  const input = `{"$top":${DIGITS},"q r":{"$skip":1,"q r":"$top"}}`;
  const call = { id: "c1", type: "function", function: { name: "f", arguments: input } };
  const other = { id: "c2", type: "function", function: { name: "g", arguments: `{"$top":1}` } };
  await chat(schema, {
    messages: [
      HI,
      { role: "assistant", content: null, tool_calls: [call, other] },
      { role: "tool", tool_call_id: "c1", content: `{"$top":5}` },
      { role: "tool", tool_call_id: "c2", content: "x" },
    ],
  });
  const [top, query] = Object.keys(sent.tools[0].input_schema.properties);
  const [skip] = Object.keys(sent.tools[0].input_schema.properties[query!].properties);
  const blocks = sent.messages[1].content;
  assertEquals(Object.keys(blocks[0].input), [top, query]);
  assertEquals(blocks[0].input[query!], { [skip!]: 1, [query!]: "$top" });
  assertEquals(blocks[1].input, { $top: 1 }, "a tool that is not offered keeps its names");
  assertEquals(sent.messages[2].content[0].content, `{"$top":5}`, "results are the caller's text");

  const body = `{"model":"${MODEL}","max_tokens":500,"tools":[{"name":"f","input_schema":${JSON.stringify(schema)},` +
    `"input_examples":[{"$top":3}]}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[` +
    `{"type":"tool_use","id":"c1","name":"f","input":${input}}]},{"role":"user","content":[` +
    `{"type":"tool_result","tool_use_id":"c1","content":"x"}]}]}`;
  await post("/msgcompat/v1/messages", body);
  assertEquals(Object.keys(sent.tools[0].input_schema.properties), [top, query]);
  assertEquals(sent.tools[0].input_examples, [{ [top!]: 3 }]);
  const expected = `{"${top}":${DIGITS},"${query}":{"${skip}":1,"${query}":"$top"}}`;
  assert(sentText.includes(`"input":${expected}`), `digits and spaces stay: ${sentText}`);
  const first = sentText;
  await post("/msgcompat/v1/messages", body);
  assertEquals(sentText, first);
});

Deno.test("property names and a forced call: the tool keeps its name", async () => {
  const schema = obj({ "a b": INTEGER });
  await chat(schema, { tool_choice: { type: "function", function: { name: "f" } } });
  assertEquals(sent.tool_choice.name, "f");
  await messages(schema, { tool_choice: { type: "tool", name: "f" } });
  assertEquals(sent.tool_choice, { type: "tool", name: "f" });
});

Deno.test("property names: a call that ends within a name is sent to its end", async () => {
  const schema = obj({ "a b": INTEGER, "c d": INTEGER });
  const name = `c_d_00000000" : ${DIGITS} }`.length;
  cutCharacters = name - 4;
  try {
    for (const [format, ask] of [["chat", chat], ["messages", messages]] as const) {
      const { text } = await ask(schema, { stream: true });
      const received = ARGUMENTS[`${format} stream`]!(text);
      assertEquals(received.length, received.trimEnd().length);
      assert(received.startsWith('{ "a b" : ') && received.endsWith('"c_d_'), received);
    }
  } finally {
    cutCharacters = 0;
  }
});

Deno.test("property names: a request without others passes byte for byte", async () => {
  const schema = obj({ a: INTEGER, "b.c-d_e": obj({ default: { type: "object", default: { "x y": 1 } } }) });
  const body = `{"model":"${MODEL}", "max_tokens":500,\n"tools":[ {"name":"f","input_schema":${
    JSON.stringify(schema, null, 1)
  }}],"messages":[{"role":"user","content":"hi"}]}`;
  await post("/msgcompat/v1/messages", body);
  assertEquals(sentText, body.replace(MODEL, "claude-opus-4-8"));
});

Deno.test("a description that was cut within an emoji arrives with whole characters", async () => {
  for (const ask of [chat, messages]) {
    await ask(obj({ a: { type: "integer", description: "x\ud83d" }, b: { type: "integer", description: "😀" } }));
    assert(!/\\ud[89a-f]/i.test(sentText), sentText);
    assert(sentText.includes("x\ufffd") || sentText.includes("x\\ufffd"));
    assert(sentText.includes("😀"));
  }
});

Deno.test("property names stay at a vendor of the messages format that takes any", async () => {
  const schema = obj({ "a b": INTEGER });
  const { status } = await messages(schema, { model: "other/any-model" });
  assertEquals(status, 400, "the test's vendor refuses them");
  assertEquals(Object.keys(sent.tools[0].input_schema.properties), ["a b"]);
});

Deno.test({
  name: "property names: stops",
  fn: async () => {
    await gateway.stop();
    await vendor.shutdown();
  },
  sanitizeOps: false,
  sanitizeResources: false,
});
