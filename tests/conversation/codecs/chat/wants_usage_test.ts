import { assertEquals } from "@std/assert";
import { hasUsageOption, wantsUsage } from "../../../../src/conversation/codecs/chat/shared/wants_usage.ts";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";

Deno.test("wantsUsage() reads the fields of OpenRouter's clients", () => {
  const asked = { usage: { include: true } };
  assertEquals([wantsUsage(asked), hasUsageOption(asked)], [true, false]);
  assertEquals(wantsUsage({ usage: { include: false } }), false);
  assertEquals(wantsUsage({ stream_options: { include_usage: true } }), true);
  const body = { model: "prov/m", messages: [{ role: "user", content: "hi" }], ...asked };
  assertEquals(readChecked(chat.caller, body).unsupportedFields, []);
});
