import { assertEquals, assertMatch } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { assertErrorShape, CALLER_PROTOCOLS, CONTENT, INVALID_REQUEST_TYPES, sendAs } from "./caller_protocols.ts";

const gateway = await startTestGateway();
const VENDORS = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1", "sandbox/any-1"];
const ASKING = {
  background: true,
  deferred: true,
  async: true,
  caching: { type: "enabled" },
  models: ["a/b"],
  fallbacks: [{ model: "b" }],
};

for (const face of CALLER_PROTOCOLS) {
  for (const [field, value] of Object.entries(ASKING)) {
    Deno.test(`a ${face.name} request that asks for background work by ${field} reaches no vendor`, async () => {
      const before = gateway.sandbox.requests.length;
      for (const model of VENDORS) {
        for (const stream of [false, true]) {
          const answer = await sendAs(face, gateway, { model, stream, extra: { [field]: value } });
          assertEquals([answer.status, face.errorType(answer.json)], [400, INVALID_REQUEST_TYPES[face.name]]);
          assertMatch(answer.json.error.message, new RegExp(`"${field}"`));
          assertErrorShape(face, answer);
        }
      }
      assertEquals(gateway.sandbox.requests.length, before);
    });
  }
}

Deno.test("a content request with a field in both spellings reaches no vendor, nor does a count or a cache", async () => {
  const before = gateway.sandbox.requests.length;
  const contents = [{ parts: [{ text: "hi" }] }];
  const both = { contents, cachedContent: "", cached_content: "cachedContents/x" };
  const questions = [
    { body: both },
    { body: both, stream: true },
    { body: both, path: `/gencompat/v1beta/models/${CONTENT.ownModel}:countTokens` },
    { body: { generateContentRequest: both }, path: `/gencompat/v1beta/models/${CONTENT.ownModel}:countTokens` },
    {
      body: { generateContentRequest: { contents }, generate_content_request: both },
      path: `/gencompat/v1beta/models/${CONTENT.ownModel}:countTokens`,
    },
    {
      body: { model: CONTENT.ownModel, contents, ttl: "600s", systemInstruction: "a", system_instruction: "b" },
      path: "/gencompat/v1beta/cachedContents",
    },
  ];
  for (const question of questions) {
    const answer = await sendAs(CONTENT, gateway, question);
    assertEquals([answer.status, answer.json?.error?.status], [400, "INVALID_ARGUMENT"]);
    assertMatch(
      answer.json.error.message,
      /"[\w.]*(cached_content|system_instruction|generate_content_request)".*spelling/,
    );
  }
  assertEquals(gateway.sandbox.requests.length, before);
});

Deno.test("a request with a duplicate name in a nested object reaches no vendor", async () => {
  const before = gateway.sandbox.requests.length;
  for (const face of CALLER_PROTOCOLS.filter(({ name }) => name !== "responses")) {
    const text = JSON.stringify(face.body(face.ownModel, "hi")).replace('"user"', '"user","role":"user"');
    assertEquals((await sendAs(face, gateway, { body: text })).status, 400);
  }
  assertEquals(gateway.sandbox.requests.length, before);
});

Deno.test.afterAll(() => gateway.stop());
