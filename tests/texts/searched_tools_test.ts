import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { itemAt } from "../support/items.ts";
import { requestOf } from "./support.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";

/** What a vendor of responses gets of a request that passes. */
async function sentFor(facts: JsonObject, body: JsonObject): Promise<{ body: JsonObject; dropped: string | null }> {
  const model = { pricing: {}, top_provider: { max_completion_tokens: 8000 }, facts };
  const { service, sent } = textGatewayOf({ providers: { one: ["responses", wholeReply("responses")] }, model });
  const response = await service.handle(
    requestOf("responses", { text: JSON.stringify({ model: "acme/m", ...body }) }),
  );
  await response.text();
  return { body: itemAt(sent, 0).body, dropped: response.headers.get("x-service-dropped") };
}

const [F, G] = ["f", "g"].map((name) => ({
  type: "function",
  name,
  parameters: { type: "object", properties: {} },
  strict: false,
}));

Deno.test("a model without a search for tools gets all tools", async () => {
  const { body, dropped } = await sentFor({ has_tool_search: false }, {
    input: [{ role: "user", content: "a" }, {
      type: "additional_tools",
      role: "developer",
      tools: [{ ...G, defer_loading: true }],
    }],
    tools: [
      { type: "tool_search" },
      { ...F, defer_loading: true },
      { type: "namespace", name: "n", description: "d", tools: [{ ...G, defer_loading: false }] },
    ],
  });
  assertEquals(body.tools, [F, { type: "namespace", name: "n", description: "d", tools: [G] }]);
  assertEquals(body.input, [
    { role: "user", content: "a" },
    { type: "additional_tools", role: "developer", tools: [G] },
  ]);
  assertEquals(
    dropped,
    "tools.tool_search, tools.defer_loading, input.additional_tools.tools.defer_loading",
  );
});

Deno.test("a model with a search for tools gets the request as it is", async () => {
  const tools = [{ type: "tool_search" }, { ...F, defer_loading: true }];
  const { body, dropped } = await sentFor({ has_tool_search: true }, { input: "a", tools });
  assertEquals(body.tools, tools);
  assertEquals(dropped, null);
});

const ADDED = { type: "additional_tools", role: "developer", tools: [F, G] };
const USER = { role: "user", content: "a" };

for (
  const tool_choice of [
    { type: "function", name: "g" },
    { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "g" }] },
  ]
) {
  Deno.test(`a tool of the input that ${tool_choice.type} names is one of the tools of an older model`, async () => {
    const request = { input: [USER, ADDED], tool_choice };
    const older = await sentFor({ has_added_tool_choice: false }, request);
    assertEquals(older.body.tools, [G]);
    assertEquals(older.body.input, [USER, { ...ADDED, tools: [F] }]);
    assertEquals(older.body.tool_choice, tool_choice);
    assertEquals(older.dropped, null);
    const newer = await sentFor({ has_added_tool_choice: true }, request);
    assertEquals(newer.body.input, request.input);
    assertEquals(newer.body.tools, undefined);
  });
}

Deno.test("an item of the input whose only tool moves is left out", async () => {
  const { body } = await sentFor({ has_added_tool_choice: false }, {
    input: [USER, { ...ADDED, tools: [G] }],
    tools: [F],
    tool_choice: { type: "function", name: "g" },
  });
  assertEquals(body.tools, [F, G]);
  assertEquals(body.input, [USER]);
});
