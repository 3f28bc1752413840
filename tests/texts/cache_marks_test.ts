import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { isObject } from "../../src/conversation/neutral/wire_value.ts";
import { itemAt } from "../support/items.ts";
import { requestOf } from "./support.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";

const MODEL = { pricing: {}, top_provider: { max_completion_tokens: 8000 } };
const MARK = { cache_control: { type: "ephemeral" } };
const HOUR = { cache_control: { type: "ephemeral", ttl: "1h" } };
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };

interface Sent {
  readonly body: JsonObject;
  readonly dropped: string | null;
}

/** What a vendor of a format gets of a request in a format of callers. */
async function sentFor(
  [caller, vendor]: readonly [CallerFormatName, CallerFormatName],
  body: JsonObject,
  facts: JsonObject = {},
): Promise<Sent> {
  const model = { ...MODEL, facts };
  const { service, sent } = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] }, model });
  const text = JSON.stringify({ model: "acme/m", ...body });
  const response = await service.handle(requestOf(caller, { text }));
  await response.text();
  return { body: itemAt(sent, 0).body, dropped: response.headers.get("x-service-dropped") };
}

/** The paths of all marks of a body, without indexes. */
function marksIn(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => marksIn(each, path));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "cache_control" || name === "prompt_cache_breakpoint"
      ? [`${path}${name}`]
      : marksIn(inner, `${path}${name}.`)
  );
}

const CALL = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };

Deno.test("a mark beside the content of a chat message is that of its last part, for a vendor of messages", async () => {
  const { body, dropped } = await sentFor(["chat", "messages"], {
    messages: [
      { role: "system", content: "s", ...HOUR },
      { role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }], ...MARK },
      { role: "assistant", content: "c", tool_calls: [CALL], ...MARK },
      { role: "tool", tool_call_id: "c1", content: "d", ...MARK },
    ],
  });
  assertEquals(body.system, [{ type: "text", text: "s", ...HOUR }]);
  assertEquals(body.messages, [
    { role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: "b", ...MARK }] },
    {
      role: "assistant",
      content: [{ type: "text", text: "c" }, { type: "tool_use", id: "c1", name: "f", input: {}, ...MARK }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "d", ...MARK }] },
  ]);
  assertEquals(dropped, null);
});

const RESULT = [{ type: "text", text: "d", ...MARK }, { type: "text", text: "e" }];

Deno.test("a mark within the result of a tool is beside its content, translated and passed", async () => {
  const expected = [{
    type: "tool_result",
    tool_use_id: "c1",
    content: [{ type: "text", text: "d" }, { type: "text", text: "e" }],
    ...MARK,
  }];
  const translated = await sentFor(["chat", "messages"], {
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "c1", content: RESULT },
    ],
  });
  assertEquals((translated.body.messages as JsonObject[]).at(-1)?.content, expected);
  const passed = await sentFor(["messages", "messages"], {
    max_tokens: 9,
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: RESULT }] },
    ],
  });
  assertEquals((passed.body.messages as JsonObject[]).at(-1)?.content, expected);
  assertEquals([translated.dropped, passed.dropped], [null, null]);
});

Deno.test("a request of messages that passes has at most four marks, none on system messages, and one lifetime", async () => {
  const { body, dropped } = await sentFor(["messages", "messages"], {
    max_tokens: 9,
    cache_control: { type: "ephemeral", ttl: "5m" },
    system: [{ type: "text", text: "s", ...HOUR }],
    messages: [
      { role: "user", content: [1, 2, 3, 4].map((each) => ({ type: "text", text: String(each), ...HOUR })) },
      { role: "system", content: [{ type: "text", text: "t", ...HOUR }] },
    ],
  });
  assertEquals(marksIn(body), ["cache_control", ...Array(4).fill("messages.content.cache_control")]);
  assertEquals(body.cache_control, HOUR.cache_control);
  assert(!JSON.stringify((body.messages as JsonObject[]).at(-1)).includes("cache_control"));
  assertEquals(dropped, "messages.content.cache_control, system.cache_control, cache_control");
});

for (const [form, list, part] of [["chat", "messages", "text"], ["responses", "input", "input_text"]] as const) {
  const request = (mark: JsonObject): JsonObject => ({
    [list]: [{ role: "user", content: [{ type: part, text: "a", ...mark }] }],
    prompt_cache_options: { mode: "explicit" },
  });

  Deno.test(`${form}: OpenAI gets its own marks in place of those of relays, for models that have them`, async () => {
    const { body, dropped } = await sentFor([form, form], request(MARK), { has_cache_breakpoints: true });
    assertEquals(body[list], [{ role: "user", content: [{ type: part, text: "a", ...BREAKPOINT }] }]);
    assertEquals(dropped, null);
  });

  Deno.test(`${form}: a model without marks gets none`, async () => {
    for (const mark of [MARK, BREAKPOINT]) {
      const { body, dropped } = await sentFor([form, form], request(mark), { has_cache_breakpoints: false });
      assertEquals([marksIn(body), body.prompt_cache_options], [[], undefined]);
      const [name] = Object.keys(mark);
      assertEquals(dropped, `prompt_cache_options, ${list}.content.${name}`);
    }
  });

  Deno.test(`${form}: marks of tools and of whole messages are left out and named`, async () => {
    const tool = form === "chat" ? { type: "function", function: { name: "f" } } : { type: "function", name: "f" };
    const { body, dropped } = await sentFor([form, form], {
      [list]: [{ role: "user", content: "a", ...MARK }],
      tools: [{ ...tool, ...MARK }],
    });
    assertEquals(marksIn(body), []);
    assertEquals(dropped, `${list}.cache_control, tools.cache_control`);
  });
}

Deno.test("a mark of relays in a part of responses reaches a vendor of messages", async () => {
  const { body, dropped } = await sentFor(["responses", "messages"], {
    input: [{ role: "user", content: [{ type: "input_text", text: "a", ...HOUR }] }],
  });
  assertEquals(body.messages, [{ role: "user", content: [{ type: "text", text: "a", ...HOUR }] }]);
  assertEquals(dropped, null);
});
