import { assertEquals, assertRejects } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { FORMATS } from "../support/formats.ts";
import { itemAt } from "../support/items.ts";
import { bodyOf, requestOf } from "./support.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";

const MISTYPED = { role: "user", content: [{ type: "txt", text: "hi" }] };

const MISTAKES: Readonly<Record<CallerFormatName, readonly [JsonObject, field: string]>> = {
  chat: [bodyOf("chat", { messages: [MISTYPED] }), "messages[0].content[0].type"],
  responses: [bodyOf("responses", { input: [MISTYPED] }), "input[0].content[0].type"],
  messages: [bodyOf("messages", { messages: [MISTYPED] }), "messages[0].content[0].type"],
  content: [{ contents: [{ role: "user", parts: [{ txt: "hi" }] }] }, "contents[0].parts[0].txt"],
};

for (const form of FORMATS) {
  const [body, field] = MISTAKES[form];

  Deno.test(`TextService refuses a ${form} request with a mistyped part that it would translate`, async () => {
    for (const vendor of FORMATS.filter((other) => other !== form)) {
      const { service, sent, recorder } = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] } });
      const error = await assertRejects(() => service.handle(requestOf(form, { body })), GatewayError);
      assertEquals([error.code, error.details.field], ["invalid_request", field]);
      assertEquals([sent.length, recorder.charges.length], [0, 0]);
    }
  });

  Deno.test(`TextService leaves a mistyped part of a ${form} request to a vendor of the format`, async () => {
    const { service, sent } = textGatewayOf({ providers: { one: [form, wholeReply(form)] } });
    const response = await service.handle(requestOf(form, { body }));
    await response.text();
    assertEquals([response.status, response.headers.get("x-service-dropped")], [200, null]);
    assertEquals(itemAt(sent, 0).text.includes("hi"), true);
  });
}
