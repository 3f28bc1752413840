import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { objectOf } from "../../src/conversation/neutral/wire_value.ts";
import { itemAt } from "../support/items.ts";
import { requestOf } from "./support.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";

const MODEL = { pricing: {}, top_provider: { max_completion_tokens: 8000 } };

/** What names a user in each format of callers. */
const BODIES: Readonly<Record<"chat" | "responses" | "messages", (user: string) => JsonObject>> = {
  chat: (user) => ({ messages: [{ role: "user", content: "a" }], user }),
  responses: (user) => ({ input: "a", safety_identifier: user }),
  messages: (user) => ({ max_tokens: 9, messages: [{ role: "user", content: "a" }], metadata: { user_id: user } }),
};

async function userAt(caller: CallerFormatName, body: JsonObject): Promise<string> {
  const { service, sent } = textGatewayOf({ providers: { one: ["messages", wholeReply("messages")] }, model: MODEL });
  await (await service.handle(requestOf(caller, { text: JSON.stringify({ model: "acme/m", ...body }) }))).text();
  return String(objectOf(itemAt(sent, 0).body.metadata)?.user_id);
}

for (const [caller, bodyOf] of Object.entries(BODIES) as [keyof typeof BODIES, (user: string) => JsonObject][]) {
  Deno.test(`a vendor of messages gets no email address or telephone number as the user of a ${caller} request`, async () => {
    const sent = new Map<string, string>();
    for (const user of ["ann@example.com", "bob@example.com", "+1 (555) 010-2000"]) {
      const id = await userAt(caller, bodyOf(user));
      assert(/^user_[0-9a-f]{16}$/.test(id), id);
      assertEquals(await userAt(caller, bodyOf(user)), id, "the same user has the same id");
      sent.set(id, user);
    }
    assertEquals(sent.size, 3);
  });

  Deno.test(`other ids of users stay in a ${caller} request`, async () => {
    for (
      const user of ["user_1", "0f8fad5b-d9cb-469f-a165-70867728950e", "a@b", '{"device_id":"x","session_id":"1"}']
    ) {
      assertEquals(await userAt(caller, bodyOf(user)), user);
    }
  });
}
