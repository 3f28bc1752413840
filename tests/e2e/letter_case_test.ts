import { assertEquals, assertMatch } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import {
  assertErrorShape,
  CALLER_PROTOCOLS,
  CHAT,
  INVALID_REQUEST_TYPES,
  MESSAGES,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

const gateway = await startTestGateway();
const NAMED_IN_LOWER_CASE = CALLER_PROTOCOLS.filter(({ name }) => name !== "content");

const TOP: Readonly<Record<string, unknown>> = {
  Model: "sandbox/dear-1",
  Background: true,
  bacKground: true,
  Previous_Response_ID: "resp_of_another",
  "\u017ftore": true,
  N: 128,
  Max_Tokens: 1_000_000,
  Service_Tier: "priority",
  Caching: { type: "enabled" },
};

for (const face of NAMED_IN_LOWER_CASE) {
  for (const [name, value] of Object.entries(TOP)) {
    Deno.test(`a ${face.name} request with "${name}" reaches no vendor, as some vendors ignore case`, async () => {
      const before = gateway.sandbox.requests.length;
      for (const model of [face.ownModel, "sandbox/any-1"]) {
        const answer = await sendAs(face, gateway, { model, extra: { [name]: value } });
        assertEquals([answer.status, face.errorType(answer.json)], [400, INVALID_REQUEST_TYPES[face.name]]);
        assertMatch(answer.json.error.message, /in lower case/);
        assertErrorShape(face, answer);
      }
      assertEquals(gateway.sandbox.requests.length, before);
    });
  }
}

Deno.test("names of stored files and items are checked in any case, at any depth", async () => {
  const before = gateway.sandbox.requests.length;
  const file = [{ role: "user", content: [{ type: "input_file", File_ID: "file-of-another" }] }];
  const item = [{ Type: "item_reference", ID: "rs_of_another" }, { role: "user", content: "hi" }];
  const document = [{ role: "user", content: [{ type: "document", source: { Type: "file", FILE_ID: "file_1" } }] }];
  for (const input of [file, item]) {
    assertEquals((await sendAs(RESPONSES, gateway, { extra: { input } })).status, 400);
  }
  assertEquals((await sendAs(MESSAGES, gateway, { extra: { messages: document } })).status, 400);
  assertEquals(gateway.sandbox.requests.length, before);
});

Deno.test("keys that callers choose may have any case", async () => {
  const tools = [{
    type: "function",
    function: { name: "f", parameters: { type: "object", properties: { Model: {} } } },
  }];
  const extra = { tools, metadata: { Model: "x", ID: "y" } };
  assertEquals((await sendAs(CHAT, gateway, { extra })).status, 200);
});

Deno.test("keys in examples of a tool's input may have any case", async () => {
  const inputSchema = { type: "object", properties: { Id: { type: "string" } } };
  const tools = [{ name: "f", input_schema: inputSchema, input_examples: [{ Id: "a", File_ID: "b" }] }];
  assertEquals((await sendAs(MESSAGES, gateway, { extra: { tools } })).status, 200);
});

Deno.test.afterAll(() => gateway.stop());
