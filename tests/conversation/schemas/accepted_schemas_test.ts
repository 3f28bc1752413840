import { assert, assertEquals } from "@std/assert";
import type { JsonSchema } from "../../../src/conversation/neutral/conversation.ts";
import { type Case, faultAt, type Sent, sentTo } from "./schema_table.ts";

/** `true`: sent as it is. Otherwise what is sent, and what is named. */
type Expected = true | JsonSchema | readonly [schema: JsonSchema | true, ...named: string[]];

const STRING = { type: "string" };
const INTEGER = { type: "integer" };
const NULL = { type: "null" };

/** An object that allows other members. */
function obj(properties: Record<string, unknown>, more: JsonSchema = {}): JsonSchema {
  return { type: "object", properties, ...more };
}

/** An object as strict modes require it. */
function closed(properties: Record<string, unknown>, more: JsonSchema = {}): JsonSchema {
  return obj(properties, { required: Object.keys(properties), additionalProperties: false, ...more });
}

const TOOLS: readonly Case[] = ["openai tool", "compatible tool", "anthropic tool", "bedrock tool", "gemini tool"];

/** The same expectation in several cases. */
function all(cases: readonly Case[], expected: Expected): Partial<Record<Case, Expected>> {
  return Object.fromEntries(cases.map((name) => [name, expected]));
}

const NODE = closed({ next: { anyOf: [{ $ref: "#/$defs/N" }, NULL] } });
const RECURSIVE = closed({ root: { $ref: "#/$defs/N" } }, { $defs: { N: NODE } });
const OPTIONAL_NODE = obj({ next: { anyOf: [{ $ref: "#/$defs/N" }, NULL] } }, { additionalProperties: false });
const MAP = closed({ labels: { type: "object", additionalProperties: STRING } });
const REFERENCE = obj({ q: { $ref: "#/$defs/Q" } }, { $defs: { Q: obj({ a: STRING }) } });
const BESIDE = obj({ q: { $ref: "#/$defs/Q", description: "the query", default: null } }, {
  $defs: { Q: obj({ a: STRING }) },
});
const EMPTY_TEXT = obj({ mode: { type: "string", enum: ["", "a", "b"] } });
const NULLABLE = obj({ status: { type: ["string", "null"], enum: ["a", "b", null] } });
const DRAFT_4_BOUNDS = obj({ ttl: { type: "integer", minimum: 0, exclusiveMinimum: true } });
const TUPLE = obj({ pair: { type: "array", items: [STRING, INTEGER], additionalItems: false } });
const DEFINITIONS = obj({ a: { $ref: "#/definitions/A" } }, { definitions: { A: obj({ b: INTEGER }) } });
const DEPENDENCIES = obj({ a: STRING, b: STRING }, { dependencies: { a: ["b"], b: { required: ["a"] } } });
const UNION: JsonSchema = { type: "object", anyOf: [obj({ a: STRING }, { required: ["a"] }), obj({ b: STRING })] };

function nested(levels: number): JsonSchema {
  return levels === 1 ? closed({ a: STRING }) : closed({ a: nested(levels - 1) });
}

function properties(count: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, STRING]));
}

function unions(count: number): JsonSchema {
  return closed(
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { anyOf: [STRING, NULL] }])),
  );
}

/** What each vendor receives of a schema. */
const TABLE: readonly (readonly [what: string, schema: JsonSchema, expected: Partial<Record<Case, Expected>>])[] = [
  ["a plain object", obj({ a: STRING }, { required: ["a"] }), {
    ...all(TOOLS, true),
    "openapi tool": { type: "OBJECT", properties: { a: { type: "STRING" } }, required: ["a"] },
    "openai format": true,
    "anthropic format": [closed({ a: STRING })],
    "gemini format": true,
  }],
  ["a closed object", closed({ a: STRING }), {
    "openai strict": true,
    "openai strict format": true,
    "compatible strict": true,
    "anthropic strict": true,
    "anthropic format": true,
    "bedrock strict": true,
    "bedrock format": true,
    "gemini strict": true,
  }],
  [
    "no root type",
    { properties: { a: STRING } },
    all(TOOLS.slice(0, 4), { properties: { a: STRING }, type: "object" }),
  ],

  ["an array without items", obj({ tags: { type: "array" } }), {
    "openai tool": obj({ tags: { type: "array", items: {} } }),
    "compatible tool": obj({ tags: { type: "array", items: {} } }),
    "openai format": obj({ tags: { type: "array", items: {} } }),
    "anthropic tool": true,
    "bedrock tool": true,
    "gemini tool": true,
    "openapi tool": { type: "OBJECT", properties: { tags: { type: "ARRAY", items: { type: "STRING" } } } },
  }],
  ["a nullable array without items", obj({ tags: { type: ["array", "null"] } }), {
    "openai tool": obj({ tags: { type: ["array", "null"], items: {} } }),
    "anthropic tool": true,
  }],
  [
    "arrays without items at depth",
    obj({
      a: { type: "array", items: { type: "array" } },
      b: { anyOf: [{ type: "array" }, NULL] },
      items: { type: "array" },
    }, { $defs: { D: { type: "array" } } }),
    {
      "openai tool": obj({
        a: { type: "array", items: { type: "array", items: {} } },
        b: { anyOf: [{ type: "array", items: {} }, NULL] },
        items: { type: "array", items: {} },
      }, { $defs: { D: { type: "array", items: {} } } }),
      "anthropic tool": true,
    },
  ],
  ["a closed array without items", closed({ tags: { type: "array" } }), {
    "openai strict": [closed({ tags: { type: "array", items: {} } }), "tool_strict"],
    "openai strict format": [closed({ tags: { type: "array", items: {} } }), "output_strict"],
    "anthropic strict": true,
  }],
  ["a tuple", obj({ pair: { type: "array", prefixItems: [STRING] } }), {
    "openai tool": true,
    "anthropic tool": true,
    "gemini tool": true,
  }],

  ["boolean bounds", DRAFT_4_BOUNDS, {
    "openai tool": obj({ ttl: { type: "integer", exclusiveMinimum: 0 } }),
    "compatible tool": obj({ ttl: { type: "integer", exclusiveMinimum: 0 } }),
    "anthropic tool": obj({ ttl: { type: "integer", exclusiveMinimum: 0 } }),
    "bedrock tool": obj({ ttl: { type: "integer", exclusiveMinimum: 0 } }),
    "gemini tool": true,
    "anthropic format": obj({ ttl: { type: "integer", description: "(exclusiveMinimum: 0)" } }, {
      additionalProperties: false,
    }),
  }],
  ["boolean bounds that are off", obj({ a: { type: "number", maximum: 9, exclusiveMaximum: false } }), {
    "anthropic tool": obj({ a: { type: "number", maximum: 9 } }),
    "bedrock tool": obj({ a: { type: "number", maximum: 9 } }),
    "openai tool": obj({ a: { type: "number", maximum: 9 } }),
  }],
  ["an upper boolean bound", obj({ a: { type: "number", maximum: 9, exclusiveMaximum: true } }), {
    "anthropic tool": obj({ a: { type: "number", exclusiveMaximum: 9 } }),
  }],
  ["numeric exclusive bounds", obj({ a: { type: "number", exclusiveMinimum: 3 } }), all(TOOLS, true)],
  ["a list of items", TUPLE, {
    "openai tool": obj({ pair: { type: "array", prefixItems: [STRING, INTEGER], items: false } }),
    "anthropic tool": obj({ pair: { type: "array", prefixItems: [STRING, INTEGER], items: false } }),
    "bedrock tool": obj({ pair: { type: "array", prefixItems: [STRING, INTEGER], items: false } }),
    "gemini tool": obj({ pair: { type: "array", prefixItems: [STRING, INTEGER], items: false } }),
  }],
  [
    "a reference to one of several items",
    obj({
      pair: { type: "array", items: [STRING] },
      first: { $ref: "#/properties/pair/items/0" },
    }),
    {
      "anthropic tool": obj({
        pair: { type: "array", prefixItems: [STRING] },
        first: { $ref: "#/properties/pair/prefixItems/0" },
      }),
    },
  ],
  ["definitions", DEFINITIONS, {
    "openai tool": true,
    "anthropic tool": obj({ a: { $ref: "#/$defs/A" } }, { $defs: { A: obj({ b: INTEGER }) } }),
    "bedrock tool": obj({ a: { $ref: "#/$defs/A" } }, { $defs: { A: obj({ b: INTEGER }) } }),
    "gemini tool": obj({ a: { $ref: "#/$defs/A" } }, { $defs: { A: obj({ b: INTEGER }) } }),
    "gemini format": obj({ a: { $ref: "#/$defs/A" } }, { $defs: { A: obj({ b: INTEGER }) } }),
    "openapi tool": {
      type: "OBJECT",
      properties: { a: { type: "OBJECT", properties: { b: { type: "INTEGER" } } } },
    },
    "gpt-oss tool": obj({ a: obj({ b: INTEGER }) }),
  }],
  [
    "definitions of a property",
    obj({ a: obj({ b: { $ref: "#/properties/a/definitions/B" } }, { definitions: { B: STRING } }) }),
    {
      "anthropic tool": obj({ a: obj({ b: { $ref: "#/properties/a/$defs/B" } }, { $defs: { B: STRING } }) }),
    },
  ],
  [
    "a property with the name definitions",
    obj({ definitions: obj({ x: STRING }), id: STRING, items: { type: "boolean" } }),
    {
      ...all(TOOLS, true),
    },
  ],
  ["dependencies", DEPENDENCIES, {
    "openai tool": true,
    "anthropic tool": obj({ a: STRING, b: STRING }, {
      dependentRequired: { a: ["b"] },
      dependentSchemas: { b: { required: ["a"] } },
    }),
    "bedrock tool": obj({ a: STRING, b: STRING }, {
      dependentRequired: { a: ["b"] },
      dependentSchemas: { b: { required: ["a"] } },
    }),
  }],
  ["an id and an old $schema", obj({ a: STRING }, { id: "x", $schema: "http://json-schema.org/draft-04/schema#" }), {
    "openai tool": true,
    "anthropic tool": obj({ a: STRING }),
    "bedrock tool": obj({ a: STRING }),
    "gemini tool": obj({ a: STRING }, { id: "x" }),
  }],
  ["the $schema of draft 2020-12", obj({ a: STRING }, { $schema: "https://json-schema.org/draft/2020-12/schema" }), {
    "anthropic tool": true,
    "gemini tool": obj({ a: STRING }),
    "openai tool": true,
  }],
  [
    "properties that are required by themselves",
    obj({ a: { type: "string", required: true }, b: { required: false } }),
    {
      "anthropic tool": obj({ a: STRING, b: {} }, { required: ["a"] }),
      "bedrock tool": obj({ a: STRING, b: {} }, { required: ["a"] }),
    },
  ],
  ["types that no draft has", obj({ a: { type: "any" }, b: { type: "STRING" }, c: { type: ["Integer", "null"] } }), {
    "anthropic tool": obj({ a: {}, b: STRING, c: { type: ["integer", "null"] } }),
    "bedrock tool": obj({ a: {}, b: STRING, c: { type: ["integer", "null"] } }),
    "openai tool": obj({ a: {}, b: STRING, c: { type: ["integer", "null"] } }),
    "compatible tool": obj({ a: {}, b: STRING, c: { type: ["integer", "null"] } }),
  }],
  ["repeated required names", obj({ a: STRING }, { required: ["a", "a"] }), {
    "anthropic tool": obj({ a: STRING }, { required: ["a"] }),
    "openai tool": obj({ a: STRING }, { required: ["a"] }),
    "openai format": obj({ a: STRING }, { required: ["a"] }),
  }],
  ["a property that is no schema", obj({ a: STRING, type: "object", list: [STRING] }), {
    "anthropic tool": obj({ a: STRING }),
    "openai tool": obj({ a: STRING }),
    "compatible tool": obj({ a: STRING }),
  }],
  ["a property that is required itself", obj({ a: { type: "string", required: true } }), {
    "openai tool": obj({ a: STRING }, { required: ["a"] }),
  }],

  ["a union at the top", UNION, {
    "openai tool": [obj({ a: STRING, b: STRING }), "tool_schema"],
    "compatible tool": { ...UNION, properties: {} },
    "anthropic tool": [obj({ a: STRING, b: STRING }), "tool_schema"],
    "bedrock tool": [obj({ a: STRING, b: STRING }), "tool_schema"],
    "gemini tool": true,
  }],
  ["enum and not at the top", obj({ a: STRING }, { not: { required: ["b"] }, enum: [{ a: "x" }] }), {
    "openai tool": [obj({ a: STRING }), "tool_schema"],
    "anthropic tool": true,
    "gemini tool": [obj({ a: STRING }, { not: { required: ["b"] }, description: '(enum: [{"a":"x"}])' })],
  }],

  ["a dollar in a name", obj({ $top: INTEGER }, { required: ["$top"] }), {
    "openai tool": true,
    "compatible tool": true,
    "gemini tool": true,
    "anthropic tool": obj({ _top_81bf98e4: { type: "integer", title: "$top" } }, { required: ["_top_81bf98e4"] }),
    "bedrock tool": obj({ _top_81bf98e4: { type: "integer", title: "$top" } }, { required: ["_top_81bf98e4"] }),
    "anthropic strict": obj({ _top_81bf98e4: { type: "integer", title: "$top" } }, {
      required: ["_top_81bf98e4"],
      additionalProperties: false,
    }),
  }],
  ["brackets in a name", obj({ "filter[id]": STRING, filter_id_: STRING }), {
    "anthropic tool": obj({ "filter_id__665d001d": { type: "string", title: "filter[id]" }, filter_id_: STRING }),
  }],
  [
    "a space in a name at depth",
    obj({ list: { type: "array", items: obj({ "a b": STRING }, { required: ["a b"] }) } }),
    {
      "anthropic tool": obj({
        list: {
          type: "array",
          items: obj({ a_b_c8687a08: { type: "string", title: "a b" } }, { required: ["a_b_c8687a08"] }),
        },
      }),
      "bedrock tool": obj({
        list: {
          type: "array",
          items: obj({ a_b_c8687a08: { type: "string", title: "a b" } }, { required: ["a_b_c8687a08"] }),
        },
      }),
      "openai tool": true,
    },
  ],
  ["names that are accepted", obj({ "a.b-c_9": STRING, ["x".repeat(64)]: STRING }), all(TOOLS, true)],
  ["a dollar in the name of a reply", closed({ $top: INTEGER }), {
    "anthropic format": true,
    "openai strict format": true,
  }],

  ["a reference", REFERENCE, {
    ...all(TOOLS, true),
    "gpt-oss tool": obj({ q: obj({ a: STRING }) }),
    "openapi tool": {
      type: "OBJECT",
      properties: { q: { type: "OBJECT", properties: { a: { type: "STRING" } } } },
    },
  }],
  ["members beside a reference", BESIDE, {
    "openai tool": true,
    "anthropic tool": true,
    "gemini tool": obj({ q: obj({ a: STRING }, { description: "the query", default: null }) }, {
      $defs: { Q: obj({ a: STRING }) },
    }),
    "gemini format": obj({ q: obj({ a: STRING }, { description: "the query", default: null }) }, {
      $defs: { Q: obj({ a: STRING }) },
    }),
    "gpt-oss tool": obj({ q: obj({ a: STRING }, { description: "the query", default: null }) }),
    "openapi tool": {
      type: "OBJECT",
      properties: {
        q: { type: "OBJECT", properties: { a: { type: "STRING" } }, description: "the query", default: null },
      },
    },
  }],
  [
    "members beside a recursive reference",
    obj({ n: { $ref: "#/$defs/N", title: "t" } }, { $defs: { N: OPTIONAL_NODE } }),
    {
      "gemini tool": obj({ n: { title: "t", anyOf: [{ $ref: "#/$defs/N" }] } }, { $defs: { N: OPTIONAL_NODE } }),
      "anthropic tool": true,
      "openai tool": true,
    },
  ],
  [
    "properties beside a reference",
    obj({ q: { $ref: "#/$defs/Q", properties: { b: INTEGER }, required: ["b"] } }, {
      $defs: { Q: obj({ a: STRING }, { required: ["a"] }) },
    }),
    {
      "gemini tool": obj({ q: obj({ a: STRING, b: INTEGER }, { required: ["a", "b"] }) }, {
        $defs: { Q: obj({ a: STRING }, { required: ["a"] }) },
      }),
    },
  ],
  [
    "members beside a reference to a reference",
    obj({ a: { $ref: "#/$defs/A", title: "t" } }, {
      $defs: { A: { $ref: "#/$defs/B", description: "d" }, B: STRING },
    }),
    {
      "gemini tool": obj({ a: { type: "string", description: "d", title: "t" } }, {
        $defs: { A: { type: "string", description: "d" }, B: STRING },
      }),
    },
  ],
  ["members beside a reference that leads nowhere", obj({ a: { $ref: "#/$defs/A", title: "t" } }), {
    "gemini tool": obj({ a: { title: "t", anyOf: [{ $ref: "#/$defs/A" }] } }),
  }],
  ["a property with the name $ref", obj({ $ref: { type: "string", title: "t" } }), { "gemini tool": true }],
  [
    "members beside a reference, closed",
    closed({ q: { $ref: "#/$defs/Q", description: "d" } }, {
      $defs: { Q: closed({ a: STRING }) },
    }),
    {
      "openai strict": closed({ q: { description: "d", anyOf: [{ $ref: "#/$defs/Q" }] } }, {
        $defs: { Q: closed({ a: STRING }) },
      }),
      "openai strict format": closed({ q: { description: "d", anyOf: [{ $ref: "#/$defs/Q" }] } }, {
        $defs: { Q: closed({ a: STRING }) },
      }),
      "anthropic strict": true,
      "anthropic format": true,
    },
  ],
  ["a reference to another place than a definition", closed({ a: STRING, b: { $ref: "#/properties/a" } }), {
    "openai strict": [true, "tool_strict"],
    "anthropic strict": true,
  }],
  ["a reference to another document", closed({ a: { $ref: "https://example.com/a.json" } }), {
    "openai strict": [true, "tool_strict"],
    "anthropic strict": [true, "tool_strict"],
    "anthropic format": [true, "output_format"],
  }],

  ["a recursive schema", RECURSIVE, {
    "openai tool": true,
    "openai strict": true,
    "openai strict format": true,
    "anthropic tool": true,
    "anthropic strict": [true, "tool_strict"],
    "anthropic format": [true, "output_format"],
    "bedrock tool": true,
    "bedrock strict": [true, "tool_strict"],
    "bedrock format": [true, "output_format"],
    "gemini tool": [{ ...RECURSIVE, $defs: { N: OPTIONAL_NODE } }, "tool_schema"],
    "gemini format": [{ ...RECURSIVE, $defs: { N: OPTIONAL_NODE } }, "output_schema"],
    "gpt-oss tool": [closed({ root: {} }), "tool_schema"],
    "openapi tool": [{
      type: "OBJECT",
      properties: {
        root: {
          type: "OBJECT",
          properties: { next: { type: "OBJECT", nullable: true } },
          required: ["next"],
        },
      },
      required: ["root"],
    }, "tool_schema"],
  }],
  ["a recursion of optional properties", obj({ root: { $ref: "#/$defs/N" } }, { $defs: { N: OPTIONAL_NODE } }), {
    "gemini tool": true,
    "gemini format": true,
    "anthropic format": [true, "output_format"],
  }],
  ["a recursion to the top", obj({ children: { type: "array", items: { $ref: "#" } } }, { required: ["children"] }), {
    "openai tool": true,
    "anthropic tool": true,
    "anthropic strict": [true, "tool_strict"],
    "gemini tool": [obj({ children: { type: "array", items: { $ref: "#" } } }), "tool_schema"],
  }],
  [
    "a recursion of two definitions",
    closed({ a: { $ref: "#/$defs/A" } }, {
      $defs: { A: closed({ b: { $ref: "#/$defs/B" } }), B: closed({ a: { anyOf: [{ $ref: "#/$defs/A" }, NULL] } }) },
    }),
    {
      "anthropic strict": [true, "tool_strict"],
      "openai strict": true,
      "gemini tool": [
        closed({ a: { $ref: "#/$defs/A" } }, {
          $defs: {
            A: obj({ b: { $ref: "#/$defs/B" } }, { additionalProperties: false }),
            B: obj({ a: { anyOf: [{ $ref: "#/$defs/A" }, NULL] } }, { additionalProperties: false }),
          },
        }),
        "tool_schema",
      ],
    },
  ],

  ["an enumeration with an empty text", EMPTY_TEXT, {
    "openai tool": true,
    "anthropic tool": true,
    "gemini tool": [obj({ mode: { type: "string", enum: ["a", "b"] } }), "tool_schema"],
    "gemini format": [obj({ mode: { type: "string", enum: ["a", "b"] } }), "output_schema"],
    "openapi tool": [{ type: "OBJECT", properties: { mode: { type: "STRING", enum: ["a", "b"] } } }, "tool_schema"],
    "openapi format": [{ type: "OBJECT", properties: { mode: { type: "STRING", enum: ["a", "b"] } } }, "output_schema"],
  }],
  ["an enumeration of an empty text alone", obj({ mode: { type: "string", enum: [""] } }), {
    "gemini tool": [obj({ mode: STRING }), "tool_schema"],
    "openapi tool": [{ type: "OBJECT", properties: { mode: { type: "STRING" } } }, "tool_schema"],
  }],
  ["an empty text within an alternative", obj({ a: { anyOf: [{ type: "string", enum: ["", "x"] }, NULL] } }), {
    "gemini tool": [obj({ a: { anyOf: [{ type: "string", enum: ["x"] }, NULL] } }), "tool_schema"],
  }],
  ["a nullable enumeration", NULLABLE, {
    "openai tool": true,
    "anthropic tool": true,
    "anthropic strict": obj({ status: { anyOf: [{ type: "string", enum: ["a", "b"] }, NULL] } }, {
      additionalProperties: false,
    }),
    "gemini tool": obj({ status: { anyOf: [{ type: "string", enum: ["a", "b"] }, NULL] } }),
    "gemini format": obj({ status: { anyOf: [{ type: "string", enum: ["a", "b"] }, NULL] } }),
    "openapi tool": {
      type: "OBJECT",
      properties: { status: { type: "STRING", enum: ["a", "b"], nullable: true } },
    },
  }],
  [
    "a nullable enumeration with texts about it",
    obj({
      a: { type: ["string", "null"], enum: ["x", null], description: "d", title: "t", default: null },
    }),
    {
      "gemini tool": obj({
        a: { title: "t", description: "d", default: null, anyOf: [{ type: "string", enum: ["x"] }, NULL] },
      }),
    },
  ],
  ["a nullable enumeration without a type", obj({ a: { enum: ["x", null] } }), {
    "anthropic strict": obj({ a: { enum: ["x", null] } }, { additionalProperties: false }),
    "gemini tool": obj({ a: { anyOf: [{ enum: ["x"] }, NULL] } }),
    "openapi tool": { type: "OBJECT", properties: { a: { type: "STRING", enum: ["x"], nullable: true } } },
  }],
  ["null in an enumeration of texts", obj({ a: { type: "string", enum: ["x", null] } }), {
    "gemini tool": obj({ a: { type: "string", enum: ["x"] } }),
    "openapi tool": { type: "OBJECT", properties: { a: { type: "STRING", enum: ["x"] } } },
  }],
  ["a closed nullable enumeration", closed({ a: { type: ["string", "null"], enum: ["x", null] } }), {
    "openai strict": true,
    "openai strict format": true,
  }],
  ["an enumeration of numbers", obj({ a: { type: "integer", enum: [1, 2] } }), {
    "openai tool": true,
    "anthropic tool": true,
    "gemini tool": true,
    "openapi tool": { type: "OBJECT", properties: { a: { type: "INTEGER", description: "One of: 1, 2" } } },
  }],
  ["an enumeration of booleans", obj({ a: { type: "boolean", enum: [true] } }), {
    "gemini tool": obj({ a: { type: "boolean", description: "(enum: [true])" } }),
    "openai tool": true,
  }],
  ["an empty enumeration", obj({ a: { type: "string", enum: [] } }), {
    "gemini tool": obj({ a: STRING }),
    "openapi tool": { type: "OBJECT", properties: { a: { type: "STRING" } } },
  }],
  ["an enumeration of objects", closed({ a: { enum: [{ b: 1 }] } }), {
    "anthropic strict": closed({ a: { description: '(enum: [{"b":1}])' } }),
    "bedrock strict": closed({ a: { description: '(enum: [{"b":1}])' } }),
    "anthropic tool": true,
  }],

  ["a map", MAP, {
    ...all(TOOLS, true),
    "openai strict": [true, "tool_strict"],
    "openai strict format": [true, "output_strict"],
    "anthropic strict": [true, "tool_strict"],
    "anthropic format": [true, "output_format"],
    "bedrock strict": [true, "tool_strict"],
    "bedrock format": [true, "output_format"],
    "gemini strict": true,
  }],
  ["an object with any members", closed({ data: { type: "object" } }), {
    "openai strict": [true, "tool_strict"],
    "anthropic strict": [true, "tool_strict"],
    "anthropic format": [true, "output_format"],
  }],
  ["an object with members beside the named ones", closed({ a: obj({ b: STRING }, { additionalProperties: true }) }), {
    "anthropic strict": [true, "tool_strict"],
    "bedrock format": [true, "output_format"],
  }],
  ["members by patterns", closed({ a: { type: "object", patternProperties: { "^x-": STRING } } }), {
    "anthropic strict": [true, "tool_strict"],
    "openai strict": [true, "tool_strict"],
    "anthropic tool": true,
  }],
  [
    "a map within a definition",
    closed({ a: { $ref: "#/$defs/M" } }, {
      $defs: { M: { type: "object", additionalProperties: { type: "object", properties: {} } } },
    }),
    { "anthropic format": [true, "output_format"], "openai strict": [true, "tool_strict"] },
  ],
  ["no arguments", { type: "object" }, {
    "openai tool": obj({}),
    "anthropic strict": obj({}, { additionalProperties: false }),
    "bedrock strict": obj({}, { additionalProperties: false }),
    "gemini tool": true,
  }],

  ["an open object", obj({ a: STRING }), {
    "openai strict": [true, "tool_strict"],
    "openai strict format": [true, "output_strict"],
    "anthropic strict": obj({ a: STRING }, { additionalProperties: false }),
  }],
  ["optional properties", obj({ a: STRING }, { additionalProperties: false }), {
    "openai strict": [true, "tool_strict"],
    "anthropic strict": true,
    "bedrock strict": true,
  }],
  ["a default", closed({ a: { type: "string", default: "x", description: "d" } }), {
    "openai strict": closed({ a: { type: "string", description: "d (default: x)" } }),
    "openai strict format": closed({ a: { type: "string", description: "d (default: x)" } }),
    "openai tool": true,
    "anthropic strict": true,
  }],
  ["alternatives by oneOf", closed({ a: { oneOf: [STRING, INTEGER] } }), {
    "openai strict": closed({ a: { anyOf: [STRING, INTEGER] } }),
    "compatible strict": closed({ a: { anyOf: [STRING, INTEGER] } }),
    "anthropic strict": closed({ a: { anyOf: [STRING, INTEGER] } }),
    "openai tool": true,
    "gemini tool": true,
    "openapi tool": {
      type: "OBJECT",
      properties: { a: { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] } },
      required: ["a"],
    },
  }],
  [
    "one schema in allOf",
    closed({ a: { allOf: [{ $ref: "#/$defs/A" }], description: "d" } }, { $defs: { A: STRING } }),
    {
      "openai strict": closed({ a: { description: "d", anyOf: [{ $ref: "#/$defs/A" }] } }, { $defs: { A: STRING } }),
      "gemini tool": true,
    },
  ],
  ["several schemas in allOf", closed({ a: { allOf: [STRING, { minLength: 1 }] } }), {
    "openai strict": [true, "tool_strict"],
    "anthropic strict": closed({ a: { type: "string", description: "(minLength: 1)" } }),
  }],
  ["limits of values", closed({ a: { type: "integer", minimum: 1, maximum: 5, multipleOf: 2 } }), {
    "openai strict": true,
    "openai strict format": true,
    "anthropic strict": closed({ a: { type: "integer", description: "(minimum: 1, maximum: 5, multipleOf: 2)" } }),
    "bedrock strict": closed({ a: { type: "integer", description: "(minimum: 1, maximum: 5, multipleOf: 2)" } }),
    "gemini tool": true,
  }],
  ["limits of texts", closed({ a: { type: "string", minLength: 1, maxLength: 9, pattern: "^a+$" } }), {
    "openai strict": true,
    "anthropic strict": closed({ a: { type: "string", description: "(minLength: 1, maxLength: 9, pattern: ^a+$)" } }),
  }],
  ["a pattern that looks around", closed({ a: { type: "string", pattern: "^(?!x).*$" } }), {
    "openai strict": closed({ a: { type: "string", description: "(pattern: ^(?!x).*$)" } }),
    "anthropic strict": closed({ a: { type: "string", description: "(pattern: ^(?!x).*$)" } }),
    "openai tool": true,
  }],
  ["limits of arrays", closed({ a: { type: "array", items: STRING, minItems: 2, maxItems: 3, uniqueItems: true } }), {
    "openai strict": closed({
      a: { type: "array", items: STRING, minItems: 2, maxItems: 3, description: "(uniqueItems: true)" },
    }),
    "anthropic strict": closed({
      a: { type: "array", items: STRING, description: "(maxItems: 3, uniqueItems: true, minItems: 2)" },
    }),
  }],
  ["limits of objects", closed({ a: closed({ b: STRING }, { minProperties: 1, propertyNames: { minLength: 1 } }) }), {
    "openai strict": closed({
      a: closed({ b: STRING }, { description: '(minProperties: 1, propertyNames: {"minLength":1})' }),
    }),
  }],
  ["a known format", closed({ a: { type: "string", format: "date-time" } }), {
    "openai strict": true,
    "anthropic strict": true,
    "gemini tool": true,
  }],
  ["an address as format", closed({ a: { type: "string", format: "uri" } }), {
    "openai strict": closed({ a: { type: "string", description: "(format: uri)" } }),
    "anthropic strict": true,
  }],
  ["an unknown format", closed({ a: { type: "string", format: "iban" } }), {
    "openai strict": closed({ a: { type: "string", description: "(format: iban)" } }),
    "anthropic strict": closed({ a: { type: "string", description: "(format: iban)" } }),
    "openai tool": true,
  }],
  ["conditions", closed({ a: STRING }, { if: { required: ["a"] }, then: {}, else: {} }), {
    "openai strict": [true, "tool_strict"],
    "openai tool": true,
    "anthropic tool": true,
  }],

  ["ten levels", nested(10), { "openai strict": true, "openai strict format": true, "anthropic strict": true }],
  ["eleven levels", nested(11), {
    "openai strict": [true, "tool_strict"],
    "openai strict format": [true, "output_strict"],
    "openai tool": true,
  }],
  ["ten levels in a definition of ten", closed({ a: nested(9) }, { $defs: { D: nested(10) } }), {
    "openai strict": true,
  }],
  ["5,000 properties", closed(properties(5_000)), { "openai strict": true }],
  ["5,001 properties", closed(properties(5_001)), { "openai strict": [true, "tool_strict"], "openai tool": true }],
  ["24 optional properties", obj(properties(24), { additionalProperties: false }), {
    "anthropic strict": true,
    "bedrock format": true,
  }],
  ["25 optional properties", obj(properties(25), { additionalProperties: false }), {
    "anthropic strict": [true, "tool_strict"],
    "anthropic format": [true, "output_format"],
    "anthropic tool": true,
  }],
  ["16 unions", unions(16), { "anthropic strict": true, "openai strict": true }],
  ["17 unions", unions(17), {
    "anthropic strict": [true, "tool_strict"],
    "bedrock format": [true, "output_format"],
    "openai strict": true,
  }],
];

const ROWS = TABLE.flatMap(([what, schema, expected]) =>
  Object.entries(expected).map(([name, value]) => ({ what, schema, name: name as Case, value }))
);

for (const { what, schema, name, value } of ROWS) {
  Deno.test(`schema with ${what}: ${name}`, () => {
    const sent = sentTo(name, schema);
    assertEquals(sent, expectedSent(value, schema));
    const isEnforced = / (?:strict|format)/.test(name) && !sent.named.some((each) => /strict|format/.test(each)) &&
      !/^(?:openai|compatible) format$/.test(name);
    assertEquals(faultAt(name, sent.schema, isEnforced), null, "the vendor accepts it");
    // A schema in the vendor's own type is no JSON Schema any more.
    if (name.startsWith("openapi")) return;
    const again = sentTo(name, sent.schema);
    if (!sent.named.includes("tool_strict")) assertEquals(again.schema, sent.schema, "a second time changes nothing");
  });
}

function expectedSent(value: Expected, schema: JsonSchema): Sent {
  if (value === true) return { schema, named: [] };
  if (!Array.isArray(value)) return { schema: value as JsonSchema, named: [] };
  const [written, ...named] = value as readonly [JsonSchema | true, ...string[]];
  return { schema: written === true ? schema : written, named };
}

Deno.test("the table of schemas has at least 150 rows, and every vendor in every mode", () => {
  assert(ROWS.length >= 150, String(ROWS.length));
  const cases = new Set(ROWS.map(({ name }) => name));
  for (const vendor of ["openai", "anthropic", "bedrock", "gemini"]) {
    assert([...cases].some((name) => name === `${vendor} tool`));
    assert([...cases].some((name) => name === `${vendor} strict`), vendor);
    assert([...cases].some((name) => name.startsWith(vendor) && name.endsWith("format")), vendor);
  }
});
