import { assert, assertEquals } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway } from "../support/gateway.ts";
import { type Json, MESSAGES, sendAs } from "./caller_protocols.ts";

const OTHER_KEY = newApiKey();
const OWN_KEY = newApiKey();
const gateway = await startTestGateway({
  config: {
    accounts: [
      { id: "demo", balance: "25.00", keys: [OWN_KEY] },
      { id: "other", balance: "25.00", keys: [OTHER_KEY] },
    ],
  },
});
const own = { address: gateway.address, key: OWN_KEY };
const BETA = { "anthropic-beta": "message-threads-2026-08-12" };

function client() {
  return new Anthropic({ baseURL: `${gateway.address}/msgcompat`, apiKey: OWN_KEY, maxRetries: 0 });
}

function weather(asked: string[]) {
  return betaTool({
    name: "weather",
    description: "Tells the weather of a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    run: ({ city }: { city: string }) => {
      asked.push(city);
      return `sunny in ${city}`;
    },
  });
}

/** Bodies that the vendors received since. */
function seenSince(before: number): Json[] {
  return gateway.sandbox.requests.slice(before).filter(({ method }) => method === "POST").map(({ body }) => body);
}

for (const model of ["sandbox/messages-1", "sandbox/chat-1", "sandbox/content-1", "sandbox/any-1"]) {
  for (const stream of [false, true]) {
    Deno.test({
      name: `the client's tool runner completes on ${model}, ${stream ? "streamed" : "whole"}`,
      sanitizeResources: false,
      sanitizeOps: false,
      async fn() {
        const before = gateway.sandbox.requests.length;
        const asked: string[] = [];
        const runner = client().beta.messages.toolRunner({
          model,
          max_tokens: 500,
          messages: [{ role: "user", content: '[[tool weather {"city":"Bern"}]] Weather in Bern?' }],
          tools: [weather(asked)],
          stream,
        } as Json);
        const last: Json = await runner.runUntilDone();
        const text = last.content.find(({ type }: Json) => type === "text").text;
        assert(/The tool weather answered: .*sunny in Bern/.test(text), text);
        assertEquals(asked, ["Bern"]);
        const bodies = seenSince(before);
        assertEquals(bodies.length, 2);
        if (model === "sandbox/messages-1" || model === "sandbox/any-1") {
          assertEquals(bodies.map(({ thread }) => thread.type), ["create", "continue"]);
          assertEquals([bodies[1].messages.length, bodies[1].tools], [1, undefined]);
        } else assert(bodies.every((body) => !("thread" in body)));
      },
    });
  }
}

Deno.test({
  name: "the client's thread has a conversation, and reports a model whose vendor has no threads",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    const thread = client().beta.messages.thread({ model: "sandbox/messages-1", max_tokens: 100 });
    await thread.send({ role: "user", content: "one" });
    const second = await thread.send({ role: "user", content: "two" });
    assert(second.usage.input_tokens > 1, "the vendor reads what it keeps");
    const lost = client().beta.messages.thread({ model: "sandbox/chat-1", max_tokens: 100 });
    const error: Json = await lost.send({ role: "user", content: "one" }).then(() => null, (thrown) => thrown);
    assertEquals(error.constructor.name, "ThreadUnsupportedRequestError");
  },
});

Deno.test("a request for a thread at a vendor without threads is rejected with the client's field names", async () => {
  const extra = { thread: { type: "create" } };
  const { status, json } = await sendAs(MESSAGES, own, { model: "sandbox/chat-1", extra, headers: BETA });
  assertEquals(status, 400);
  assertEquals(json.error.type, "invalid_request_error");
  assertEquals(json.error.details, { error_code: "thread_unsupported_request", unsupported: ["thread"] });
});

Deno.test("a thread belongs to the account that started it", async () => {
  const begun = await sendAs(MESSAGES, own, { extra: { thread: { type: "create" } }, headers: BETA });
  assertEquals(begun.status, 200, begun.text);
  const extra = { thread: { type: "continue", previous_message_id: begun.json.id } };
  const other = { ...own, key: OTHER_KEY };
  const stolen = await sendAs(MESSAGES, other, { extra, headers: BETA });
  assertEquals([stolen.status, stolen.json.error.details], [404, { error_code: "thread_not_found" }]);
  const unknown = { thread: { type: "continue", previous_message_id: "msg_unknown" } };
  const missing = await sendAs(MESSAGES, own, { extra: unknown, headers: BETA });
  assertEquals([missing.status, missing.json.error.details], [404, { error_code: "thread_not_found" }]);
  const continued = await sendAs(MESSAGES, own, { extra, headers: BETA });
  assertEquals(continued.status, 200, continued.text);
  const twice = await sendAs(MESSAGES, own, { extra, headers: BETA });
  assertEquals([twice.status, twice.json.error.details], [400, { error_code: "thread_already_continued" }]);
});

Deno.test("an invalid thread is rejected, naming the field", async () => {
  for (
    const [thread, field] of [
      ["create", /"thread"/],
      [{ type: 1 }, /thread\.type/],
      [{ type: "continue" }, /thread\.previous_message_id/],
    ] as const
  ) {
    const { status, json } = await sendAs(MESSAGES, own, { extra: { thread }, headers: BETA });
    assertEquals([status, field.test(json.error.message)], [400, true]);
  }
  const pairing = { messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] }] };
  assertEquals((await sendAs(MESSAGES, own, { extra: pairing })).status, 400);
});

Deno.test({ name: "the gateway of the threads stops", sanitizeResources: false, sanitizeOps: false, fn: gateway.stop });
