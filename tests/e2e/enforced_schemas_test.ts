import { assertEquals, assertStringIncludes } from "@std/assert";
import { familyModels } from "../../src/config/dev_models.ts";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  type Json,
  MESSAGES,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

/** Schemas that a caller wants enforced, at vendors of the caller's own format, which refuse some of them. */

const SERVED = /^sandbox-(?:openai|anthropic)$/;
const OWN = [textModel("sandbox/chat-1", ["sandbox-openai"]), textModel("sandbox/messages-1", ["sandbox-anthropic"])];
const families = familyModels(PRICING).filter(({ serves }) => SERVED.test((serves as Json)[0].provider));
const gateway = await startTestGateway({ config: { models: [...OWN, ...families] } });

const STRING = { type: "string" };
const CLOSED = { additionalProperties: false };
const obj = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
const closed = (properties: Json, more: Json = {}): Json =>
  obj(properties, { required: Object.keys(properties), ...CLOSED, ...more });

const TEXTS = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, STRING]));
const NODE = closed({ next: { anyOf: [{ $ref: "#/$defs/N" }, { type: "null" }] } });

/** A schema, and what becomes of it: `true` is sent as it is, `false` is not enforced, an object is sent instead. */
type Row = readonly [what: string, schema: Json, openai: Json, anthropic: Json];

const ROWS: readonly Row[] = [
  ["a closed object", closed({ a: STRING }), true, true],
  ["a simple pattern", closed({ a: { ...STRING, pattern: "^a+$" } }), true, true],
  ["an open object", obj({ a: STRING }), false, obj({ a: STRING }, CLOSED)],
  ["optional properties", obj({ a: STRING }, CLOSED), false, true],
  [
    "a default",
    closed({ a: { ...STRING, default: "x" } }),
    closed({ a: { ...STRING, description: "(default: x)" } }),
    true,
  ],
  [
    "limits",
    closed({ a: { type: "integer", minimum: 1 } }),
    true,
    closed({
      a: { type: "integer", description: "(minimum: 1)" },
    }),
  ],
  ["a map", closed({ a: { type: "object", additionalProperties: STRING } }), false, false],
  ["a recursion", closed({ root: { $ref: "#/$defs/N" } }, { $defs: { N: NODE } }), true, false],
  ["30 options", obj(TEXTS, CLOSED), false, false],
  [
    "a pattern that looks around",
    closed({ a: { ...STRING, pattern: "^(?!x)" } }),
    closed({ a: { ...STRING, description: "(pattern: ^(?!x))" } }),
    closed({ a: { ...STRING, description: "(pattern: ^(?!x))" } }),
  ],
];

const long = "long ".repeat(2_000);

function toolsFor({ name }: CallerProtocol, schema: Json): Json[] {
  if (name === "messages") return [{ name: "f", description: long, strict: true, input_schema: schema }];
  const definition = { name: "f", description: long, parameters: schema, strict: true };
  return name === "chat" ? [{ type: "function", function: definition }] : [{ type: "function", ...definition }];
}

function formatFor({ name }: CallerProtocol, schema: Json): Json {
  const format = { type: "json_schema", schema };
  if (name === "messages") return { output_config: { effort: "high", format } };
  return name === "chat"
    ? { response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } } }
    : { text: { format: { ...format, name: "x", strict: true } } };
}

const parametersIn = (tool: Json): Json => tool.input_schema ?? tool.parameters ?? tool.function.parameters;
const strictIn = (tool: Json): unknown => (tool.function ?? tool).strict;
const sentLast = (): Json => gateway.sandbox.requests.at(-1)?.body;
const FACES = [CHAT, RESPONSES, MESSAGES];
const expectedOf = (face: CallerProtocol, [, , openai, anthropic]: Row) => face === MESSAGES ? anthropic : openai;

for (const face of FACES) {
  for (const row of ROWS) {
    const [what, schema] = row;
    const expected = expectedOf(face, row);
    Deno.test(`${face.name}: a strict tool with ${what} that passes is not refused`, async () => {
      const extra = { tools: toolsFor(face, schema) };
      const { status, text, headers } = await sendAs(face, gateway, { extra });
      assertEquals(status, 200, text);
      const [tool] = sentLast().tools;
      const parameters = typeof expected === "object" ? expected : schema;
      const strict = expected !== false ? true : face === MESSAGES ? undefined : false;
      assertEquals([parametersIn(tool), strictIn(tool)], [parameters, strict]);
      const named = face === CHAT ? "tools.function.strict" : "tools.strict";
      assertEquals(headers.get("x-service-dropped"), expected === false ? named : null);
    });
    Deno.test(`${face.name}: a reply's schema with ${what} that passes is not refused`, async () => {
      const extra = formatFor(face, schema);
      const { status, text, headers } = await sendAs(face, gateway, { extra });
      assertEquals(status, 200, text);
      const { response_format: inChat, text: inResponses, output_config: config, system } = sentLast();
      const sent = inChat?.json_schema ?? inResponses?.format ?? config.format;
      const isDescribed = expected === false && face === MESSAGES;
      assertEquals(sent?.schema, isDescribed ? undefined : typeof expected === "object" ? expected : schema);
      if (isDescribed) assertStringIncludes(system.at(-1).text, JSON.stringify(schema));
      const named = { chat: "response_format.json_schema.strict", responses: "text.format.strict" };
      const dropped = face.name === "chat" || face.name === "responses" ? named[face.name] : "output_config.format";
      assertEquals(headers.get("x-service-dropped"), expected === false ? dropped : null);
    });
  }
}

Deno.test("tools without properties or a type, which OpenAI refuses, pass with them", async () => {
  for (const face of CALLER_PROTOCOLS.slice(0, 2)) {
    for (const schema of [{}, { type: "object" }, { properties: { a: STRING } }]) {
      const [strict] = toolsFor(face, schema);
      const tools = [
        face === CHAT ? { ...strict, function: { ...strict.function, strict: false } } : { ...strict, strict: false },
      ];
      const { status, text, headers } = await sendAs(face, gateway, { extra: { tools } });
      assertEquals(status, 200, text);
      const { properties = {} }: Json = schema;
      assertEquals(parametersIn(sentLast().tools[0]), { type: "object", properties });
      assertEquals(headers.get("x-service-dropped"), null);
    }
  }
});

Deno.test("names of properties and what is not enforced change together", async () => {
  const schema = closed({ "a b": { type: "integer", minimum: 1 } });
  const { status, text, headers, json } = await sendAs(MESSAGES, gateway, {
    text: "[[tool f]]",
    extra: { tools: toolsFor(MESSAGES, schema) },
  });
  assertEquals([status, headers.get("x-service-dropped")], [200, null], text);
  const { strict, input_schema: sent } = sentLast().tools[0];
  assertEquals(strict, true);
  assertEquals(sent.additionalProperties, false);
  const names = Object.keys(json.content.find(({ type }: Json) => type === "tool_use").input);
  assertEquals(names, ["a b"]);
});

Deno.test("a model that enforces no schemas gets none, and they are named", async () => {
  const gatewayOfOld = await startTestGateway({
    config: {
      models: [{
        ...textModel("old/claude", ["sandbox-anthropic"]),
        serves: [{ provider: "sandbox-anthropic", model: "claude-opus-4-1" }],
      }],
    },
  });
  try {
    const schema = closed({ a: STRING });
    const { status, text, headers } = await sendAs(MESSAGES, gatewayOfOld, {
      model: "old/claude",
      extra: { tools: toolsFor(MESSAGES, schema), output_config: { format: { type: "json_schema", schema } } },
    });
    assertEquals(status, 200, text);
    const { tools, output_config: config, system } = gatewayOfOld.sandbox.requests.at(-1)?.body as Json;
    assertEquals([tools[0].strict, config?.format], [undefined, undefined]);
    assertStringIncludes(system.at(-1).text, JSON.stringify(schema));
    assertEquals(headers.get("x-service-dropped"), "output_config.format, tools.strict");
  } finally {
    await gatewayOfOld.stop();
  }
});

Deno.test("long texts of a format stay when the effort beside it changes", async () => {
  const schema = closed({ a: { ...STRING, description: long } });
  const { status, text } = await sendAs(MESSAGES, gateway, {
    model: "sandbox/claude-sonnet-4-6",
    extra: { output_config: { effort: "xhigh", format: { type: "json_schema", schema } } },
  });
  assertEquals([status, sentLast().output_config.format.schema], [200, schema], text);
});

Deno.test("strict tools that are known are sent as they are, and not beside a format that uses up the limits", async () => {
  const options = (count: number) => obj(Object.fromEntries(Object.entries(TEXTS).slice(0, count)), CLOSED);
  const tools = toolsFor(MESSAGES, options(20));
  for (let time = 0; time < 2; time++) {
    const { status, headers } = await sendAs(MESSAGES, gateway, { extra: { tools } });
    assertEquals([status, sentLast().tools[0].strict, headers.get("x-service-dropped")], [200, true, null]);
  }
  const { status, text, headers } = await sendAs(MESSAGES, gateway, {
    extra: { tools, ...formatFor(MESSAGES, options(10)) },
  });
  assertEquals([status, sentLast().tools[0].strict], [200, undefined], text);
  assertEquals(headers.get("x-service-dropped"), "tools.strict");
});

Deno.test("the gateway of these tests stops", () => gateway.stop());
