import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { Quirk } from "../../src/conversation/contract/quirks.ts";
import { UNKNOWN_FACTS } from "../../src/conversation/facts/model_facts.ts";
import { openAiSchemaEdits } from "../../src/conversation/schemas/openai_sent_schemas.ts";
import { CheckedTools } from "../../src/conversation/schemas/checked_tools.ts";
import type { PassThroughRequest } from "../../src/conversation/contract/pass_through.ts";
import { objectsOf } from "../../src/conversation/neutral/wire_value.ts";
import { scanJson } from "../../src/platform/lib/json/json.ts";

const TOOL = {
  parameters: {
    type: "object",
    properties: { ttl: { type: "integer", minimum: 0, exclusiveMinimum: true }, any: { type: "any" } },
  },
};
const VALID = { type: "object", properties: { ttl: { type: "integer", exclusiveMinimum: 0 }, any: {} } };

/** The schemas that a vendor with these quirks gets in place of the caller's. */
function editedFor(quirks: readonly Quirk[]): readonly unknown[] {
  const body: JsonObject = { tools: [TOOL] };
  const text = JSON.stringify(body);
  const bytes = new TextEncoder().encode(text);
  const request: PassThroughRequest = {
    bytes,
    scan: scanJson(bytes),
    body,
    wholeBody: () => body,
    changed: {},
    model: "m",
    outputLimit: null,
    cachedContent: null,
    quirks: new Set(quirks),
    version: null,
    dropsReasoning: false,
    facts: UNKNOWN_FACTS,
    provider: "one",
    hasOtherMakers: false,
    outlineText: text,
    issuedItem: () => null,
  };
  const find = ({ tools }: JsonObject) =>
    objectsOf(tools).map((owner, index) => ({ owner, path: ["tools", index], name: "parameters", isTool: true }));
  return openAiSchemaEdits(request, find, new CheckedTools()).edits.map(({ value }) => value);
}

Deno.test("OpenAI and Mistral get valid schemas in requests that pass, other compatible vendors the caller's", () => {
  assertEquals(editedFor([]), [VALID]);
  assertEquals(editedFor(["union_schemas", "mistral_fields"]), [VALID]);
  assertEquals(editedFor(["union_schemas"]), []);
});
