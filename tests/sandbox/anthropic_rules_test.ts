import { assertEquals, assertStringIncludes } from "@std/assert";
import { issueSignature } from "../../src/sandbox/signatures.ts";
import { refuses, takes } from "./rules_support.ts";
import { ENDPOINTS, inSandbox, post } from "./support.ts";

const user = (...content: object[]) => ({ role: "user", content: [...content, { type: "text", text: "Hi" }] });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const say = (text: string) => ({ type: "text", text });
const use = { type: "tool_use", id: "a", name: "f", input: {} };
const result = { type: "tool_result", tool_use_id: "a", content: "Yes" };
const marked = { ...say("x"), cache_control: { type: "ephemeral" } };
const thought = { type: "thinking", thinking: "Well", signature: issueSignature("messages", "Well").value };
const thinking = { type: "enabled", budget_tokens: 1024 };
const tool = { name: "f", input_schema: { type: "object" } };
const limit = { max_tokens: 2000 };
const reference = { type: "tool_reference", tool_name: "g" };
const found = { ...result, content: [reference] };
const deferred = { name: "g", input_schema: { type: "object" }, defer_loading: true };

refuses("messages", [
  ["an unknown field", { extra_body: {} }, "extra_body: Extra inputs are not permitted"],
  ["no limit of tokens", { max_tokens: undefined }, "max_tokens: Field required"],
  ["no messages", { messages: [] }, "messages: at least one message is required"],
  ["empty text", { messages: [assistant(say("a")), user(say(""))] }, "text content blocks must be non-empty"],
  ["blank text", { messages: [user(say(" "))] }, "must contain non-whitespace text"],
  ["empty content", { messages: [{ role: "user", content: "" }] }, "all messages must have non-empty content"],
  ["an assistant that begins", { messages: [assistant(say("a")), user()] }, 'first message must use the "user" role'],
  ["a trailing space", { messages: [user(), assistant(say("So "))] }, "cannot end with trailing whitespace"],
  ["an unknown kind of block", { messages: [user({ type: "image_url" })] }, "Input tag 'image_url' found"],
  [
    "an unknown field of a block",
    { messages: [user({ ...say("a"), id: "1" })] },
    "messages.0.content.0.text.id: Extra",
  ],
  [
    "a call without its result",
    { messages: [user(), assistant(use), user()] },
    "without `tool_result` blocks immediately",
  ],
  ["a result behind a text", { messages: [user(), assistant(use), user(say("a"), result)] }, "immediately after: a"],
  ["a result without its call", { messages: [user(result)] }, "unexpected `tool_use_id`"],
  ["an id with a dot", { messages: [user(), assistant({ ...use, id: "a.b" })] }, "String should match pattern"],
  ["arguments that are no object", { messages: [user(), assistant({ ...use, input: "{}" })] }, "valid dictionary"],
  ["thinking that nobody signed", {
    messages: [user(), assistant({ ...thought, signature: "eA==" }, say("a")), user()],
  }, "Invalid `signature` in `thinking` block"],
  [
    "thinking that was changed",
    { messages: [user(), assistant({ ...thought, thinking: "Wel" }, say("a")), user()] },
    "Invalid `signature` in `thinking` block",
  ],
  ["a running tool loop without its thinking", {
    ...limit,
    thinking,
    tools: [tool],
    messages: [user(), assistant(use), user(result)],
  }, "Expected `thinking` or `redacted_thinking`, but found `tool_use`"],
  [
    "a reference to a tool outside a result",
    { messages: [user(reference)], tools: [tool, deferred] },
    "tool_reference",
  ],
  [
    "a reference to a tool that is not there",
    { messages: [user(), assistant(use), user(found)], tools: [tool] },
    "Tool reference 'g' has no corresponding tool definition",
  ],
  ["a small budget", { thinking: { type: "enabled", budget_tokens: 500 } }, "greater than or equal to 1024"],
  ["a budget beyond the limit", { max_tokens: 1000, thinking }, "must be greater than `thinking.budget_tokens`"],
  [
    "a forced call while thinking",
    { ...limit, thinking, tools: [tool], tool_choice: { type: "any" } },
    "forces tool use",
  ],
  ["five marks", { messages: [user(marked, marked, marked, marked, marked)] }, "A maximum of 4 blocks"],
  ["an email address", { metadata: { user_id: "a@example.com" } }, "appears to contain an email address"],
  ["a telephone number", { metadata: { user_id: "+1 555 010 2000" } }, "appears to contain a phone number"],
  ["a mark within a result", {
    messages: [
      user(say("x")),
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] },
      user({ type: "tool_result", tool_use_id: "t1", content: [marked] }),
    ],
  }, "messages.2.content.0.tool_result.content.0.cache_control: cache_control may not be specified within"],
  [
    "another life than that of the last mark",
    { messages: [user(marked)], cache_control: { type: "ephemeral", ttl: "1h" } },
    "cache_control.ttl",
  ],
  ["a longer life after a shorter one", {
    system: [marked],
    messages: [user({ ...marked, cache_control: { type: "ephemeral", ttl: "1h" } })],
  }, "must not come after a ttl='5m'"],
  ["temperature and top_p together", { temperature: 1, top_p: 1 }, "cannot both be specified"],
  ["a temperature beyond 1", { temperature: 1.5 }, "temperature: range: 0..1"],
  ["a blank stop sequence", { stop_sequences: [" "] }, "must contain non-whitespace"],
  ["a tool without a schema", { tools: [{ name: "f" }] }, "tools.0.custom.input_schema: Field required"],
  [
    "a schema that is a choice",
    { tools: [{ name: "f", input_schema: { type: "object", anyOf: [] } }] },
    "oneOf, allOf",
  ],
  ["two tools of one name", { tools: [tool, tool] }, "Tool names must be unique"],
  [
    "an open schema of the answer",
    { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
    "'additionalProperties' must be explicitly set to false",
  ],
  ["a picture of an unknown kind", {
    messages: [user({ type: "image", source: { type: "base64", media_type: "image/bmp", data: "AAAA" } })],
  }, "image/jpeg"],
]);

takes("messages", [
  ["a call with its result", { messages: [user(), assistant(use), user(result)] }],
  ["a reference to a tool that waits to be loaded", {
    messages: [user(), assistant(use), user(found)],
    tools: [tool, deferred],
  }],
  ["thinking as it was shown", { messages: [user(), assistant(thought, say("a")), user()] }],
  ["temperature and top_p together from an older model", { model: "claude-3-7-sonnet", temperature: 1, top_p: 1 }],
  ["neighbours of one role", { messages: [user(), user()] }],
]);

Deno.test("sandbox messages requires a version and a key", () =>
  inSandbox(async ({ sandbox }) => {
    const { path, headers, body } = ENDPOINTS.messages;
    const ask = async (without: string) => {
      const kept = Object.entries(headers).filter(([name]) => name !== without);
      const response = await fetch(path(sandbox), { method: "POST", headers: kept, body: JSON.stringify(body("Hi")) });
      return { status: response.status, text: await response.text() };
    };
    assertEquals((await ask("x-api-key")).status, 401);
    const { status, text } = await ask("anthropic-version");
    assertEquals(status, 400);
    assertStringIncludes(text, "anthropic-version: header is required");
  }));

Deno.test("sandbox messages of the version 2026-10-21 rejects sampling settings and mixed content", () =>
  inSandbox(async ({ sandbox }) => {
    const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "a" } };
    const cited = { ...say("Hi"), citations: [{ type: "web_search_result_location", url: "u", cited_text: "Hi" }] };
    const found = { type: "search_result", source: "s", title: "t", content: [cited] };
    for (
      const [fields, message] of [
        [{ temperature: 1 }, "temperature: Extra inputs are not permitted"],
        [{ top_k: 5 }, "top_k: Extra inputs are not permitted"],
        [{ messages: [user(), assistant(say("a"), document), user()] }, "assistant messages"],
        [{ messages: [user(cited)] }, "citations"],
        [{ messages: [user(found)] }, "citations"],
      ] as const
    ) {
      const body = { ...ENDPOINTS.messages.body("Hi"), ...fields };
      const old = await post(sandbox, "messages", body);
      assertEquals(old.status, 200, await old.text());
      const response = await post(sandbox, "messages", body, { "anthropic-version": "2026-10-21" });
      assertEquals(response.status, 400, message);
      assertStringIncludes(await response.text(), message);
    }
  }));

Deno.test("sandbox messages rejects a token count with a token limit", () =>
  inSandbox(async ({ sandbox }) => {
    const { path, headers, body } = ENDPOINTS.messages;
    const request = { method: "POST", headers, body: JSON.stringify(body("Hi")) };
    const response = await fetch(`${path(sandbox)}/count_tokens`, request);
    assertEquals((await response.json()).error.message, "max_tokens: Extra inputs are not permitted");
  }));
