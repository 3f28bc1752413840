import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { itemAt } from "../support/items.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import { bodyOf, requestOf, USAGE } from "./support.ts";

for (const form of FORMATS) {
  for (const vendor of FORMATS.filter((other) => other !== form)) {
    Deno.test(`TextService translates a ${form} request for a ${vendor} vendor, and its reply back`, async () => {
      const { service, recorder, sent } = textGatewayOf({
        providers: { one: [vendor, wholeReply(vendor)] },
      });
      const response = await service.handle(requestOf(form));
      const reply = CODECS[form].upstream.readReply(await response.json());
      const text = reply.parts.map((part) => part.kind === "text" ? part.text : "").join("");
      assertEquals(text, 'Grüße, 世界! Zwei\nZeilen, ein "Zitat" und 😀.');
      assertEquals(reply.parts.find((part) => part.kind === "tool_call")?.input.replaceAll(" ", ""), '{"ort":"Köln"}');
      assertEquals(recorder.charges.map(({ usage }) => usage?.outputTokens), [USAGE.outputTokens]);
      CODECS[vendor].caller.check(
        vendor === "content" ? { ...itemAt(sent, 0).body, model: "vm" } : itemAt(sent, 0).body,
      );
    });
  }
}

Deno.test("TextService reports dropped fields in the caller's spelling", async () => {
  const { service } = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] } });
  const body = bodyOf("messages", { top_k: 5, new_field: 1 });
  const dropped = (await service.handle(requestOf("messages", { body }))).headers.get("x-service-dropped") ?? "";
  assertEquals(dropped.split(", ").toSorted(), ["new_field", "top_k"]);
});

Deno.test("TextService uses the endpoint that supports stop sequences", async () => {
  const { service, sent } = textGatewayOf({ providers: { one: [["responses", "chat"], wholeReply("chat")] } });
  await (await service.handle(requestOf("messages", { body: bodyOf("messages", { stop_sequences: ["END"] }) }))).text();
  assertEquals([sent[0]?.call.path, sent[0]?.body.stop], ["/chat/vm/false", ["END"]]);
  const both = textGatewayOf({ providers: { one: [["responses", "chat"], wholeReply("responses")] } });
  await (await both.service.handle(requestOf("messages", { body: bodyOf("messages", { stop_sequences: [] }) }))).text();
  assertEquals(both.sent[0]?.call.path, "/responses/vm/false");
});

const SOUND = { inlineData: { mimeType: "audio/wav", data: "AAAA" } };

Deno.test("TextService uses the endpoint that accepts audio", async () => {
  const { service, sent } = textGatewayOf({ providers: { one: [["responses", "chat"], wholeReply("chat")] } });
  const body = { model: "acme/m", contents: [{ role: "user", parts: [{ text: "What is said?" }, SOUND] }] };
  await (await service.handle(requestOf("content", { body }))).text();
  assertEquals(sent[0]?.call.path, "/chat/vm/false");
});

Deno.test("TextService rejects audio that the vendor does not support, naming the caller's field", async () => {
  const { service } = textGatewayOf({ providers: { one: ["responses", wholeReply("responses")] } });
  const body = { model: "acme/m", contents: [{ role: "user", parts: [{ text: "What is said?" }, SOUND] }] };
  const error = await assertRejects(() => service.handle(requestOf("content", { body })), GatewayError);
  assertEquals([error.code, error.details.field], ["invalid_request", "contents.parts.inlineData"]);
});
