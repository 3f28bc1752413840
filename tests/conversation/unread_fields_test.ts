import { assertEquals } from "@std/assert";
import { type Fields, Kinds, unreadFields } from "../../src/conversation/contract/unread_fields.ts";

const PART = new Kinds({ text: { type: true, text: true }, file: { type: true, file: { name: true } } }, {
  isKindInPath: true,
});
const SHAPE: Fields = {
  model: true,
  messages: [{ role: true, content: [PART] }],
  store: (value) => value === false,
  settings: { size: true },
};

const CASES: readonly (readonly [body: Record<string, unknown>, unread: readonly string[]])[] = [
  [{ model: "m", messages: [{ role: "user", content: "Hi" }], store: false, settings: { size: 1 } }, []],
  [{ tomorrow: 1, yesterday: null, empty: {} }, ["tomorrow", "empty"]],
  [{ store: true, settings: {} }, ["store", "settings"]],
  [{ settings: { size: 1, colour: "red" } }, ["settings.colour"]],
  [{ messages: [{ role: "user", name: "Bo", content: [{ type: "text", text: "x", mood: 1 }] }] }, [
    "messages.name",
    "messages.content.text.mood",
  ]],
  [{ messages: { content: { type: "file", file: { name: "a", size: 1 } } } }, ["messages.content.file.file.size"]],
  [{ messages: [{ content: [{ type: "hologram" }, { text: "no kind" }] }] }, [
    "messages.content.hologram",
    "messages.content",
  ]],
];

for (const [body, unread] of CASES) {
  Deno.test(`unreadFields() returns ${JSON.stringify(unread)} for ${JSON.stringify(body)}`, () => {
    assertEquals([...unreadFields(body, SHAPE)], [...unread]);
  });
}

Deno.test("unreadFields() reads both spellings of a format, and returns the caller's", () => {
  const shape: Fields = { toolConfig: { callingMode: true } };
  assertEquals([...unreadFields({ tool_config: { calling_mode: 1, other_mode: 1 } }, shape, true)], [
    "tool_config.other_mode",
  ]);
});
