import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonObject } from "../../src/lib/json_object.ts";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import { replyOf } from "../support/assemble.ts";
import { replyContextOf } from "../support/conversations.ts";
import { itemAt } from "../support/items.ts";
import { errorOf, streamed, textGatewayOf, wholeReply } from "./text_gateway.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import { bodyOf, REPLY, requestOf, responseOf, USAGE, wireOf } from "./support.ts";

for (const form of FORMATS) {
  Deno.test(`TextTurns passes a whole ${form} reply byte for byte, and charges it before it leaves`, async () => {
    const { body } = CODECS[form].caller.writeReply(replyOf(REPLY), replyContextOf());
    const bytes = JSON.stringify({ ...body, a_new_field: { of: "the vendor's" } }, null, 1);
    const { service: turns, recorder: till } = textGatewayOf({
      providers: { one: [form, () => responseOf([bytes], "application/json")] },
    });
    const response = await turns.handle(requestOf(form));
    assertEquals(till.charges.map(({ usage }) => usage?.outputTokens), [USAGE.outputTokens]);
    assertEquals(await response.text(), bytes);
    assertEquals(response.headers.get("content-type"), "application/json");
    assertEquals(response.headers.get("x-service-provider"), "one");
    assertEquals(till.releases, 0);
  });

  Deno.test(`TextTurns passes a ${form} stream through`, async () => {
    const { service: turns, recorder: till, openStreams: live } = textGatewayOf({
      providers: { one: [form, streamed(form)] },
    });
    const options = { stream_options: { include_usage: true } };
    const body = bodyOf(form, form === "content" ? {} : { stream: true, ...form === "chat" ? options : {} });
    const response = await turns.handle(requestOf(form, { body, stream: true }));
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals(await response.text(), wireOf(form, REPLY));
    assertEquals([till.charges.length, live.count], [1, 0]);
  });

  for (
    const [name, bytes] of [
      ["HTML", "<html><body>Bad gateway</body></html>"],
      ["nothing", ""],
      ["JSON that was cut", '{"id":"x","choices":[{"mess'],
      ["JSON of another shape", '{"hello":"world"}'],
      ["no object", "[]"],
    ] as const
  ) {
    Deno.test(`TextTurns answers 502 and charges nothing when a ${form} vendor says ${name}`, async () => {
      for (const vendor of [form, FORMATS.find((other) => other !== form)!]) {
        const { service: turns, recorder: till } = textGatewayOf({
          providers: { one: [vendor, () => responseOf([bytes], "application/json")] },
        });
        const error = await errorOf(turns.handle(requestOf(form)));
        assertEquals([error.code, error.status], ["upstream_error", 502]);
        assertEquals(error.message, 'Provider "one" returned an invalid response');
        assertEquals([till.charges.length, till.releases], [0, 1]);
      }
    });
  }

  Deno.test(`TextTurns estimates the usage of a whole ${form} reply that reports none`, async () => {
    for (const vendor of [form, FORMATS.find((other) => other !== form)!]) {
      const reply = CODECS[vendor].caller.writeReply({ ...replyOf(REPLY), usage: null }, replyContextOf()).body;
      const { usage: _usage, usageMetadata: _metadata, ...bare } = reply;
      const { service: turns, recorder: till } = textGatewayOf({
        providers: { one: [vendor, () => responseOf([JSON.stringify(bare)], "application/json")] },
      });
      await (await turns.handle(requestOf(form))).text();
      const { usage } = itemAt(till.charges, 0);
      assert(usage?.estimated && usage.outputTokens! > 20 && usage.freshTokens! > 5);
    }
  });
}

Deno.test("TextTurns passes on every byte of a request but the model, its own keys and the wish for usage", async () => {
  const unknown = fc.dictionary(fc.stringMatching(/^x_[a-zß]{1,8}$/), fc.jsonValue(), { maxKeys: 4 });
  const spaces = fc.constantFrom("", " ", "\n\t");
  const stage = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] } });
  await fc.assert(
    fc.asyncProperty(unknown, spaces, fc.boolean(), async (extra, space, isPinned) => {
      const member = (name: string, value: unknown) => `${JSON.stringify(name)}:${space}${JSON.stringify(value)}`;
      const members = (model: string, own: boolean) => [
        ...Object.entries(extra).slice(0, 1).map(([name, value]) => member(name, value)),
        member("model", model),
        ...own && isPinned ? [member("extra_body", { provider: { type: "one" }, x: [1] })] : [],
        member("messages", [{ role: "user", content: 'Grüße 世界 "extra_body":1 1e2' }]),
        ...Object.entries(extra).slice(1).map(([name, value]) => member(name, value)),
      ];
      const textOf = (model: string, own: boolean) =>
        `${space}{${space}${members(model, own).join(`${space},${space}`)}${space}}${space}`;
      const response = await stage.service.handle(
        requestOf("chat", { text: textOf("acme/m", true), bodyPin: isPinned ? "one" : null }),
      );
      await response.text();
      const bytes = stage.sent.at(-1)!.call.body as Uint8Array;
      assertEquals(new TextDecoder().decode(bytes), textOf("vm", false));
    }),
    { numRuns: 60 },
  );
});

Deno.test("TextTurns asks a chat vendor for usage in a stream, whatever the caller asked for", async () => {
  const { service: turns, sent } = textGatewayOf({ providers: { one: ["chat", streamed("chat")] } });
  const others: JsonObject[] = [{}, { stream_options: null }, { stream_options: { include_usage: false, x: 1 } }];
  for (const fields of others) {
    const body = bodyOf("chat", { stream: true, ...fields });
    await (await turns.handle(requestOf("chat", { body }))).text();
  }
  const options = sent.map(({ body }) => body.stream_options);
  assertEquals(options, [{ include_usage: true }, { include_usage: true }, { include_usage: true, x: 1 }]);
});

Deno.test("TextTurns hands a content vendor the bytes with the model in the path alone", async () => {
  const { service: turns, sent } = textGatewayOf({ providers: { one: ["content", wholeReply("content")] } });
  const text = '{ "contents":[{"parts":[{"text":"Hi"}]}], "extra_body": {"provider":{"type":"nosuch"}}, "x": 1.0 }';
  await (await turns.handle(
    requestOf("content", { text, body: { ...JSON.parse(text), model: "acme/m", stream: false } }),
  ))
    .text();
  const { body, path } = itemAt(sent, 0).call;
  assertEquals(new TextDecoder().decode(body as Uint8Array), '{ "contents":[{"parts":[{"text":"Hi"}]}], "x": 1.0 }');
  assertEquals(path, "/content/vm/false");
});

Deno.test("TextTurns gives a content caller one JSON list where that was asked for, from any vendor", async () => {
  for (const vendor of FORMATS) {
    const { service: turns, recorder: till } = textGatewayOf({ providers: { one: [vendor, streamed(vendor)] } });
    const response = await turns.handle(requestOf("content", { stream: true, framing: "json_array" }));
    assertEquals(response.headers.get("content-type"), "application/json");
    const list = await response.json();
    assertEquals(list.at(-1).candidates[0].finishReason, "STOP");
    assertEquals(till.charges.length, 1);
  }
});

Deno.test("TextTurns forwards the caller's flags to a vendor of the caller's form alone", async () => {
  const forwarded: Record<string, string> = { "anthropic-beta": "a-feature" };
  const header = (name: string) => forwarded[name] ?? null;
  for (const [vendor, headers] of [["messages", forwarded], ["chat", {}]] as const) {
    const { service: turns, sent } = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] } });
    await (await turns.handle(requestOf("messages", { header }))).text();
    assertEquals(itemAt(sent, 0).call.headers, headers);
  }
});

Deno.test("TextTurns keeps a whole reply back whose charge is lost, and does not release what was charged", async () => {
  const { service: turns, recorder: till } = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] } });
  till.durable = () => Promise.reject(new GatewayError("internal_error", "the charge is lost"));
  assertEquals((await errorOf(turns.handle(requestOf("chat")))).code, "internal_error");
  assertEquals([till.charges.length, till.releases], [1, 0]);
});
