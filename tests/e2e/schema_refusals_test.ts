import { assert, assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { CALLER_PROTOCOLS, type CallerProtocol, type Json, sendAs } from "./caller_protocols.ts";
import { CLAUDE, NOVA } from "./clouds/bedrock_stage.ts";

/**
 * Schemas that some vendor refuses, from every caller to every simulated vendor, which refuse them too. Each asks for a
 * call, whose arguments are made from the schema that arrived.
 */

const STRING = { type: "string" };

function obj(properties: Json, more: Json = {}): Json {
  return { type: "object", properties, ...more };
}

const NODE = obj({ value: STRING, next: { anyOf: [{ $ref: "#/$defs/N" }, { type: "null" }] } }, { required: ["next"] });

/** A schema, and the names of the arguments that a caller gets. */
const SCHEMAS: readonly (readonly [what: string, schema: Json, names?: readonly string[]])[] = [
  ["arrays without items", obj({ tags: { type: "array" }, deep: obj({ more: { type: ["array", "null"] } }) })],
  ["boolean bounds", obj({ ttl: { type: "integer", minimum: 1, exclusiveMinimum: true } })],
  ["a list of items", obj({ pair: { type: "array", items: [STRING, { type: "integer" }] } })],
  ["definitions", obj({ a: { $ref: "#/definitions/A" } }, { definitions: { A: obj({ b: STRING }) } })],
  ["properties that are required by themselves", obj({ a: { type: "string", required: true } })],
  ["dependencies and an id", obj({ a: STRING, b: STRING }, { dependencies: { a: ["b"] }, id: "x" })],
  [
    "other names of properties",
    obj({ $top: STRING, "filter[id]": STRING, "a b": obj({ "c d": STRING }), ["n".repeat(70)]: STRING }),
  ],
  [
    "members beside a reference",
    obj({ q: { $ref: "#/$defs/Q", description: "d" } }, { $defs: { Q: obj({ a: STRING }) } }),
  ],
  ["a recursion", obj({ root: { $ref: "#/$defs/N", title: "t" } }, { $defs: { N: NODE } })],
  ["an enumeration with an empty text", obj({ mode: { type: "string", enum: ["", "x"] } })],
  ["a nullable enumeration", obj({ mode: { type: ["string", "null"], enum: ["x", null] } })],
  ["a union at the top", { type: "object", anyOf: [obj({ a: STRING }), obj({ a: STRING }, { required: ["a"] })] }, [
    "a",
  ]],
  ["a map", obj({ labels: { type: "object", additionalProperties: STRING } })],
  ["a half of a character", obj({ a: { type: "string", description: "half \ud83d" } })],
];

const gateway = await startTestGateway();
const bedrock = await startTestGateway({
  config: {
    providers: {
      bedrock: {
        kind: "bedrock",
        region: "us-east-1",
        base_url: gateway.sandbox.baseUrls.bedrock,
        api_key: "AKIAIOSFODNN7EXAMPLE",
        secret_key: "sandbox-secret",
      },
    },
    models: [textModel(CLAUDE, ["bedrock"]), textModel(NOVA, ["bedrock"])],
  },
});

const MODELS = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1", CLAUDE, NOVA];

/** Tools in a caller's format. */
function toolsFor({ name }: CallerProtocol, schema: Json, more: Json = {}): Json[] {
  switch (name) {
    case "chat":
      return [{ type: "function", function: { name: "f", parameters: schema, ...more } }];
    case "responses":
      return [{ type: "function", name: "f", parameters: schema, strict: false, ...more }];
    case "messages":
      return [{ name: "f", input_schema: { type: "object", ...schema }, ...more }];
    case "content":
      return [{ functionDeclarations: [{ name: "f", parametersJsonSchema: schema }] }];
  }
}

/** The arguments of the call in a reply, whole or streamed. */
function argumentsIn({ name }: CallerProtocol, text: string, stream: boolean): Json {
  const events: Json[] = stream
    ? text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)))
    : [JSON.parse(text)];
  switch (name) {
    case "chat": {
      const calls = events.flatMap(({ choices }) => choices[0]?.[stream ? "delta" : "message"]?.tool_calls ?? []);
      return JSON.parse(calls.map((call) => call.function?.arguments ?? "").join(""));
    }
    case "responses": {
      const output = (stream ? events.at(-1).response : events[0]).output;
      return JSON.parse(output.find(({ type }: Json) => type === "function_call").arguments);
    }
    case "messages":
      return stream
        ? JSON.parse(events.map(({ delta }) => delta?.partial_json ?? "").join(""))
        : events[0].content.find(({ type }: Json) => type === "tool_use").input;
    case "content": {
      const parts = events.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
      return parts.find(({ functionCall }) => functionCall).functionCall.args;
    }
  }
}

for (const face of CALLER_PROTOCOLS) {
  for (const [what, schema, names = Object.keys(schema.properties)] of SCHEMAS) {
    Deno.test(`schemas, ${face.name}: every vendor takes ${what}`, async () => {
      for (const model of MODELS) {
        for (const stream of [false, true]) {
          const to = model.startsWith("bedrock/") ? bedrock : gateway;
          const { status, text } = await sendAs(face, to, {
            model,
            stream,
            text: "[[tool f]]",
            extra: { tools: toolsFor(face, schema) },
          });
          assertEquals(status, 200, `${model}: ${text}`);
          const received = argumentsIn(face, text, stream);
          assert(Object.keys(received).every((name) => names.includes(name)), `${model}: ${JSON.stringify(received)}`);
          assertEquals(/\ufffd|\ud83d/.test(JSON.stringify(received)), false);
          if (what.startsWith("other names")) assertEquals(Object.keys(received["a b"]), ["c d"]);
        }
      }
    });
  }
}

/** Schemas of Google's own type with members that it does not have, as clients that convert JSON Schema send them. */
const OWN_SCHEMAS: typeof SCHEMAS = [
  ...SCHEMAS.filter(([what]) => what !== "a union at the top"),
  ["types in capitals", { type: "OBJECT", properties: { a: { type: "STRING", nullable: true } }, $schema: "x" }],
  ["closed objects", obj({ a: { type: "OBJECT", properties: { b: STRING }, additionalProperties: false } })],
  ["lists of types", obj({ a: { type: ["string", "null"] } })],
  ["constants and alternatives", obj({ a: { oneOf: [{ const: "x" }, { type: "NUMBER" }] } })],
  ["other formats", obj({ a: { type: "STRING", format: "uri" } })],
  ["requirements of others", obj({ a: STRING }, { required: ["a", "b"] }), ["a", "b"]],
  ["bounds", obj({ a: { type: "INTEGER", exclusiveMinimum: 0 } })],
  ["numbers in an enumeration", obj({ a: { type: "INTEGER", enum: [1, 2] } })],
];

for (const [what, schema, names = Object.keys(schema.properties)] of OWN_SCHEMAS) {
  Deno.test(`schemas, content: Google takes ${what} in its own type of schema`, async () => {
    const face = CALLER_PROTOCOLS.find(({ name }) => name === "content")!;
    for (
      const [declarations, parameters] of [["functionDeclarations", "parameters"], [
        "function_declarations",
        "parameters",
      ]] as const
    ) {
      const declaration = { name: "f", [parameters]: schema, response: schema };
      const { status, text } = await sendAs(face, gateway, {
        model: "sandbox/content-1",
        text: "[[tool f]]",
        extra: { tools: [{ [declarations]: [declaration] }] },
      });
      assertEquals(status, 200, text);
      const received = argumentsIn(face, text, false);
      assert(Object.keys(received).every((name) => names.includes(name)), JSON.stringify(received));
    }
    for (const [config, own] of [["generationConfig", "responseSchema"], ["generation_config", "response_schema"]]) {
      const { status, text } = await sendAs(face, gateway, {
        model: "sandbox/content-1",
        extra: { [config!]: { responseMimeType: "application/json", [own!]: schema } },
      });
      assertEquals(status, 200, text);
    }
  });
}

Deno.test("schemas, content: the counter of tokens and cached contents take what Google's own type lacks, too", async () => {
  const schema = obj({ a: { type: ["STRING", "null"] } }, { additionalProperties: false });
  const tools = [{ functionDeclarations: [{ name: "f", parameters: schema }] }];
  const contents = [{ role: "user", parts: [{ text: "hi ".repeat(5_000) }] }];
  const headers = { "x-goog-api-key": gateway.key, "content-type": "application/json" };
  const post = async (path: string, body: Json) => {
    const answer = await fetch(`${gateway.address}/gencompat/v1beta/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return [answer.status, await answer.text()];
  };
  const model = "models/sandbox/content-1";
  const generateContentRequest = { model, contents, tools };
  const counted = await post(`${model}:countTokens`, { generateContentRequest });
  assertEquals(counted[0], 200, String(counted[1]));
  const created = await post("cachedContents", { model, contents, tools, ttl: "600s" });
  assertEquals(created[0], 200, String(created[1]));
});

Deno.test("schemas, content: a schema of Google's own type passes byte for byte", async () => {
  const schema = {
    type: "OBJECT",
    properties: {
      when: { type: "STRING", format: "date-time", nullable: true, example: "2026-11-28T00:00:00Z" },
      kind: { type: "string", format: "enum", enum: ["a", "b"] },
      list: { type: "ARRAY", items: { any_of: [{ type: "NUMBER", minimum: 1 }, { type: "NULL" }] }, minItems: "1" },
      free: { type: "OBJECT", properties: {} },
    },
    required: ["kind"],
    propertyOrdering: ["kind", "when", "list", "free"],
  };
  const declaration = { name: "f", description: "d", parameters: schema, response: schema };
  const tools = [{ functionDeclarations: [declaration, { name: "g", parameters: { type: "OBJECT" } }] }];
  const generationConfig = { responseMimeType: "application/json", responseSchema: schema };
  const face = CALLER_PROTOCOLS.find(({ name }) => name === "content")!;
  const { status, text } = await sendAs(face, gateway, {
    model: "sandbox/content-1",
    extra: { tools, generationConfig },
  });
  assertEquals(status, 200, text);
  const sent: Json = gateway.sandbox.requests.at(-1)?.body;
  assertEquals(JSON.stringify([sent.tools, sent.generationConfig]), JSON.stringify([tools, generationConfig]));
});

/** Formats of a reply in three callers' formats, and the name of each. */
const FORMATS: Readonly<Record<string, readonly [of: (schema: Json) => Json, name: RegExp]>> = {
  chat: [
    (schema) => ({ response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } } }),
    /response_format/,
  ],
  responses: [
    (schema) => ({ text: { format: { type: "json_schema", name: "x", strict: true, schema } } }),
    /text\.format/,
  ],
  content: [
    (schema) => ({ generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema } }),
    /responseJsonSchema/,
  ],
};

const CLOSED = { additionalProperties: false };
const STRICT_MAP = obj({ labels: { type: "object", additionalProperties: STRING } }, {
  required: ["labels"],
  ...CLOSED,
});
const STRICT_NODE = { ...NODE, required: ["value", "next"], ...CLOSED };
const STRICT_RECURSION = obj({ root: { $ref: "#/$defs/N" } }, {
  required: ["root"],
  ...CLOSED,
  $defs: { N: STRICT_NODE },
});
const MANY = obj(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, STRING])), CLOSED);

for (
  const [what, schema] of [["a map", STRICT_MAP], ["a recursion", STRICT_RECURSION], ["30 options", MANY]] as const
) {
  Deno.test(`schemas: ${what} in a format that is not enforced is named`, async () => {
    for (const face of CALLER_PROTOCOLS) {
      const [of, name] = FORMATS[face.name] ?? [null, null];
      if (of === null) continue;
      for (const model of ["sandbox/messages-1", CLAUDE]) {
        const to = model === CLAUDE ? bedrock : gateway;
        const { status, headers, text } = await sendAs(face, to, { model, extra: of(schema) });
        assertEquals(status, 200, text);
        assert(name.test(headers.get("x-service-dropped") ?? ""), `${face.name}: ${headers.get("x-service-dropped")}`);
      }
    }
  });
  Deno.test(`schemas: ${what} in a strict tool is named`, async () => {
    for (const face of CALLER_PROTOCOLS.slice(0, 2)) {
      const { status, headers, text } = await sendAs(face, gateway, {
        model: "sandbox/messages-1",
        text: "[[tool f]]",
        extra: { tools: toolsFor(face, schema, { strict: true }) },
      });
      assertEquals(status, 200, text);
      assert(/tools(?:\.function)?\.strict/.test(headers.get("x-service-dropped") ?? ""), face.name);
    }
  });
}

Deno.test("schemas: of two declarations with one name the first is sent, and another one is named", async () => {
  for (const face of CALLER_PROTOCOLS) {
    const first = toolsFor(face, obj({ a: STRING }));
    for (const [second, dropped] of [[first, null], [toolsFor(face, obj({ b: STRING })), "tools"]] as const) {
      for (const model of ["sandbox/messages-1", "sandbox/content-1"]) {
        if (model === face.ownModel && face.name === "messages") continue; // the vendor refuses it itself
        if (face.name === "responses" && dropped !== null) continue; // later definitions replace earlier ones there
        const { status, headers, text } = await sendAs(face, gateway, {
          model,
          text: "[[tool f]]",
          extra: { tools: [...first, ...second] },
        });
        assertEquals(status, 200, text);
        assertEquals(Object.keys(argumentsIn(face, text, false)), ["a"], `${face.name} to ${model}`);
        if (model !== face.ownModel) {
          assertEquals(headers.get("x-service-dropped"), dropped, `${face.name} to ${model}`);
        }
      }
    }
  }
});

Deno.test("schemas: a reference in the result of a tool is text for Gemini", async () => {
  const result = JSON.stringify(obj({ a: { $ref: "#/$defs/A" } }, { $defs: { A: STRING } }));
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
  const { status, text } = await sendAs(CALLER_PROTOCOLS[0]!, gateway, {
    model: "sandbox/content-1",
    extra: {
      tools: toolsFor(CALLER_PROTOCOLS[0]!, obj({ a: STRING })),
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: result },
      ],
    },
  });
  assertEquals(status, 200, text);
});

Deno.test("schemas, content: a reference in the result of a tool is sent as text, unless it names a part of it", async () => {
  const face = CALLER_PROTOCOLS.find(({ name }) => name === "content")!;
  const result = async (functionResponse: Json, key = "functionResponse") => {
    const contents = [
      { role: "user", parts: [{ text: "hi" }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
      { role: "user", parts: [{ [key]: { name: "f", ...functionResponse } }] },
    ];
    const extra = { contents, tools: toolsFor(face, obj({ a: STRING })) };
    const { status, text } = await sendAs(face, gateway, { model: "sandbox/content-1", extra });
    assertEquals(status, 200, text);
    const sent: Json = gateway.sandbox.requests.at(-1)?.body;
    return sent.contents[2].parts[0][key].response;
  };
  const schema = { schema: [{ a: { $ref: "#/$defs/A" } }], $defs: { A: STRING } };
  assertEquals(await result({ response: schema }), { output: JSON.stringify(schema) });
  assertEquals(await result({ response: schema }, "function_response"), { output: JSON.stringify(schema) });
  const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=", displayName: "a.png" };
  const own = { response: { image: { $ref: "a.png" } }, parts: [{ inlineData }] };
  assertEquals(await result(own), own.response);
});

Deno.test({
  name: "schemas: stops",
  fn: async () => {
    await bedrock.stop();
    await gateway.stop();
  },
  sanitizeOps: false,
  sanitizeResources: false,
});
