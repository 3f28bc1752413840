import { assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { assertErrorShape, CALLER_PROTOCOLS, INVALID_REQUEST_TYPES, sendAs } from "./caller_protocols.ts";

const LARGE_BODY_BYTES = 4_000;
const LARGE = "x".repeat(2 * LARGE_BODY_BYTES);
const KEY = newApiKey();
const gateway = await startTestGateway({
  config: {
    accounts: [{ id: "demo", balance: "25.00", keys: [KEY] }],
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
    ],
    limits: { large_body: LARGE_BODY_BYTES },
  },
});

/** A body with a mistyped part, and the field that the error names. */
const MISTYPED = {
  chat: { mistake: { messages: [messageOf("txt")] }, field: "messages[0].content[1].type" },
  responses: { mistake: { input: [messageOf("input_txt")] }, field: "input[0].content[1].type" },
  messages: { mistake: { messages: [messageOf("txt")] }, field: "messages[0].content[1].type" },
  content: {
    mistake: { contents: [{ role: "user", parts: [{ text: LARGE }, { txt: "hi" }] }] },
    field: "contents[0].parts[1].txt",
  },
};

function messageOf(type: string) {
  return { role: "user", content: [{ type: type.replace("txt", "text"), text: LARGE }, { type, text: "hi" }] };
}

for (const face of CALLER_PROTOCOLS) {
  const { mistake, field } = MISTYPED[face.name];
  const model = face.name === "messages" ? "sandbox/chat-1" : "sandbox/messages-1";

  for (const headers of [{}, { "x-service-dry-run": "true" }]) {
    const kind = Object.keys(headers).length > 0 ? "a dry run of a" : "a";
    Deno.test(`${kind} large translated ${face.name} request with a mistyped part returns 400 that names it`, async () => {
      const before = gateway.sandbox.requests.length;
      for (const stream of [false, true]) {
        const response = await sendAs(face, { address: gateway.address, key: KEY }, {
          model,
          stream,
          extra: mistake,
          headers,
        });
        assertEquals(response.status, 400, response.text);
        assertErrorShape(face, response);
        assertEquals(face.errorType(response.json), INVALID_REQUEST_TYPES[face.name]);
        assertStringIncludes(response.json.error.message, `"${field}": expected "`);
        if (face.name === "chat" || face.name === "responses") assertEquals(response.json.error.param, field);
      }
      assertEquals(gateway.sandbox.requests.length, before);
    });
  }
}

Deno.test.afterAll(async () => {
  await gateway.stop();
});
