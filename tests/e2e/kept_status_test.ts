import { assertEquals } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { CALLER_PROTOCOLS, CHAT, CONTENT, MESSAGES, RESPONSES, sendAs } from "./caller_protocols.ts";

const gateway = await startTestGateway();

/** The protocols whose clients know the errors of each model's vendor. */
const OWN_FACES = {
  "sandbox/chat-1": [CHAT, RESPONSES],
  "sandbox/messages-1": [MESSAGES],
  "sandbox/content-1": [CONTENT],
} as const;

/** How each protocol names a vendor's overload that keeps its status. */
const OVERLOAD_WORDS = {
  chat: "upstream_error",
  responses: "upstream_error",
  messages: "overloaded_error",
  content: "UNAVAILABLE",
} as const;

for (const [model, own] of Object.entries(OWN_FACES)) {
  for (const status of [503, 529]) {
    Deno.test(`${model}: a vendor's ${status} keeps its status only for callers of the vendor's own format`, async () => {
      for (const face of CALLER_PROTOCOLS) {
        for (const stream of [false, true]) {
          const answer = await sendAs(face, gateway, { model, text: `[[fail ${status}]] hi`, stream });
          const isOwn = (own as readonly unknown[]).includes(face);
          assertEquals(answer.status, isOwn ? status : 502, `${face.name} ${answer.text}`);
          if (isOwn) assertEquals(face.errorType(answer.json), OVERLOAD_WORDS[face.name]);
        }
      }
    });
  }
}

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
