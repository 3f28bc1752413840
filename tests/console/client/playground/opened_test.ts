import { assertEquals } from "@std/assert";
import type { ChatSettings, Message } from "../../../../src/console/client/pages/playground/conversation.ts";
import { PROTOCOL_NAMES, PROTOCOLS } from "../../../../src/console/client/pages/playground/protocols/all.ts";
import { playgroundPageOf } from "../../../../src/console/client/pages/requests/playground_page_of.ts";
import { PLAIN, userText } from "./text_requests.ts";

const CALL = { id: "toolu_1", name: "weather", input: '{"city":"Bern"}' };
const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };
const MESSAGES: readonly Message[] = [
  {
    role: "user",
    parts: [{ kind: "text", text: "look" }, { kind: "media", name: "dot.png", mediaType: "image/png", data: "aGk=" }],
  },
  { role: "assistant", text: "I look", calls: [CALL], own: null },
  { role: "tool", results: [{ id: CALL.id, name: CALL.name, text: '{"degrees":21}' }] },
  userText("and now"),
];
const SETTINGS: ChatSettings = {
  ...PLAIN,
  system: "Be brief",
  temperature: 0.5,
  maxTokens: 64,
  tools: [{ name: "weather", description: "The weather", parameters: PARAMETERS, mockResult: "" }],
  schema: { type: "object" },
};

for (const name of PROTOCOL_NAMES) {
  Deno.test(`playground: reading a request of ${name} undoes writing it`, () => {
    const { write, read } = PROTOCOLS[name];
    const { messages, ...settings } = read(write(SETTINGS, MESSAGES).body);
    assertEquals(settings, {
      system: "Be brief",
      temperature: 0.5,
      maxTokens: 64,
      tools: [{ name: "weather", description: "The weather", parameters: PARAMETERS }],
      schema: { type: "object" },
    });
    const withoutForm = messages.map((message) => JSON.parse(JSON.stringify({ ...message, own: null, parts: null })));
    const expected = MESSAGES.map((message) => JSON.parse(JSON.stringify({ ...message, own: null, parts: null })));
    assertEquals(withoutForm, expected);
    const files = messages.flatMap((message) => message.role === "user" ? message.parts : []);
    assertEquals(files.map((part) => part.kind === "text" ? part.text : part.data), ["look", "aGk=", "and now"]);
  });

  Deno.test(`playground: a request of ${name} that is not as expected reads as empty`, () => {
    for (const value of [null, 1, "x", [null], [{}], { a: [] }]) {
      const body = { messages: value, input: value, contents: value, system: value, tools: value, text: value };
      assertEquals(PROTOCOLS[name].read(body).temperature, null);
    }
  });
}

Deno.test("playground: requests of texts, pictures and videos have a page there", () => {
  assertEquals(
    [
      "/v1/chat/completions",
      "/v1/responses",
      "/msgcompat/v1/messages",
      "/gencompat/v1beta/models/:model*:streamGenerateContent",
      "/v1/images/generations",
      "/v1/images/edits",
      "/v1/videos",
      "/msgcompat/v1/messages/count_tokens",
      "/admin/v1/accounts",
    ].map(playgroundPageOf),
    [...Array(4).fill("playground"), "playground/pictures", "playground/pictures", "playground/videos", null, null],
  );
});
