import { assertEquals } from "@std/assert";
import { reasoningEditsOf } from "../../../../src/conversation/codecs/chat/pass_through/reasoning_object.ts";
import type { Quirk } from "../../../../src/conversation/contract/quirks.ts";
import { startTestGateway } from "../../../support/gateway.ts";

const NONE: ReadonlySet<Quirk> = new Set();

for (
  const [body, set, remove, droppedFields] of [
    [{}, {}, [], []],
    [{ usage: { include: true } }, {}, ["usage"], []],
    [{ reasoning: { effort: "high" } }, { reasoning_effort: "high" }, ["reasoning"], []],
    [{ reasoning: { enabled: false } }, { reasoning_effort: "none" }, ["reasoning"], []],
    [{ reasoning: { enabled: true } }, {}, ["reasoning"], []],
    [{ reasoning: { max_tokens: 8_000 }, max_tokens: 9_000 }, { reasoning_effort: "high" }, ["reasoning"], []],
    [{ reasoning: { effort: "low", max_tokens: 9, exclude: true } }, { reasoning_effort: "low" }, ["reasoning"], [
      "reasoning_visibility",
      "reasoning_budget",
    ]],
    [{ reasoning: { effort: "low" }, reasoning_effort: "high" }, {}, ["reasoning"], []],
    [{ reasoning: "a plain text" }, {}, [], []],
  ] as const
) {
  Deno.test(`reasoningEditsOf() replaces the objects for a vendor without them: ${JSON.stringify(body)}`, () => {
    assertEquals(reasoningEditsOf({ body, quirks: NONE }), {
      set,
      remove: [...remove],
      droppedFields: [...droppedFields],
    });
  });
}

Deno.test("reasoningEditsOf() keeps the objects for a vendor that supports them", () => {
  const body = { reasoning: { effort: "high" }, usage: { include: true } };
  const quirks: ReadonlySet<Quirk> = new Set(["reasoning_object"] as const);
  assertEquals(reasoningEditsOf({ body, quirks }), { set: {}, remove: [], droppedFields: [] });
});

Deno.test("a client of OpenRouter is served by a vendor without its fields", async () => {
  const gateway = await startTestGateway({ balance: "10.00" });
  try {
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "sandbox/chat-1",
        messages: [{ role: "user", content: "hello" }],
        reasoning: { effort: "high" },
        usage: { include: true },
      }),
    });
    const reply = await response.json();
    assertEquals(
      [response.status, reply.choices?.[0].message.content],
      [200, "You said: hello"],
      JSON.stringify(reply),
    );
    const sent = gateway.sandbox.requests.at(-1)!.body as { reasoning_effort?: string };
    assertEquals(sent.reasoning_effort, "high");
  } finally {
    await gateway.stop();
  }
});
