import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { replyOf } from "../support/assemble.ts";
import { replyContextOf } from "../support/conversations.ts";
import { itemAt } from "../support/items.ts";
import { errorOf, streamed, textGatewayOf, wholeReply } from "./text_gateway.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import { bodyOf, REPLY, requestOf, responseOf, USAGE, wireOf, withoutCost } from "./support.ts";

for (const form of FORMATS) {
  Deno.test(`TextService passes a whole ${form} reply unchanged, and charges it before sending`, async () => {
    const { body } = CODECS[form].caller.writeReply(replyOf(REPLY), replyContextOf());
    const bytes = JSON.stringify({ ...body, a_new_field: { of: "the vendor's" } }, null, 1);
    const { service, recorder } = textGatewayOf({
      providers: { one: [form, () => responseOf([bytes], "application/json")] },
    });
    const response = await service.handle(requestOf(form));
    assertEquals(recorder.charges.map(({ usage }) => usage?.outputTokens), [USAGE.outputTokens]);
    assertEquals(await response.text(), bytes);
    assertEquals(response.headers.get("content-type"), "application/json");
    assertEquals(response.headers.get("x-service-provider"), "one");
    assertEquals(recorder.releases, 0);
  });

  Deno.test(`TextService passes a ${form} stream through`, async () => {
    const { service, recorder, openStreams } = textGatewayOf({
      providers: { one: [form, streamed(form)] },
    });
    const options = { stream_options: { include_usage: true } };
    const body = bodyOf(form, form === "content" ? {} : { stream: true, ...form === "chat" ? options : {} });
    const response = await service.handle(requestOf(form, { body, stream: true }));
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals(withoutCost(await response.text()), wireOf(form, REPLY));
    assertEquals([recorder.charges.length, openStreams.count], [1, 0]);
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
    Deno.test(`TextService returns 502 and charges nothing if a ${form} vendor returns ${name}`, async () => {
      for (const vendor of [form, FORMATS.find((other) => other !== form)!]) {
        const { service, recorder } = textGatewayOf({
          providers: { one: [vendor, () => responseOf([bytes], "application/json")] },
        });
        const error = await errorOf(service.handle(requestOf(form)));
        assertEquals([error.code, error.status], ["upstream_error", 502]);
        assertEquals(error.message, 'Provider "one" returned an invalid response');
        assertEquals([recorder.charges.length, recorder.releases], [0, 1]);
      }
    });
  }

  Deno.test(`TextService estimates the usage of a whole ${form} reply that reports none`, async () => {
    for (const vendor of [form, FORMATS.find((other) => other !== form)!]) {
      const reply = CODECS[vendor].caller.writeReply({ ...replyOf(REPLY), usage: null }, replyContextOf()).body;
      const { usage: _usage, usageMetadata: _metadata, ...bare } = reply;
      const { service, recorder } = textGatewayOf({
        providers: { one: [vendor, () => responseOf([JSON.stringify(bare)], "application/json")] },
      });
      await (await service.handle(requestOf(form))).text();
      const { usage } = itemAt(recorder.charges, 0);
      assert(usage?.estimated && usage.outputTokens! > 20 && usage.freshTokens! > 5);
    }
  });
}

Deno.test("TextService passes a request unchanged except for the model, its own keys and the usage option", async () => {
  const unknown = fc.dictionary(fc.stringMatching(/^x_[a-zß]{1,8}$/), fc.jsonValue(), { maxKeys: 4 });
  const spaces = fc.constantFrom("", " ", "\n\t");
  const gateway = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] } });
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
      const response = await gateway.service.handle(
        requestOf("chat", { text: textOf("acme/m", true), bodyPin: isPinned ? "one" : null }),
      );
      await response.text();
      assertEquals(gateway.sent.at(-1)!.text, textOf("vm", false));
    }),
    { numRuns: 60 },
  );
});

Deno.test("TextService frees a large request after the whole reply, whose missing usage it estimates before", async () => {
  const { usage: _usage, ...bare } = CODECS.chat.caller.writeReply(replyOf(REPLY), replyContextOf()).body;
  const { service, recorder } = textGatewayOf({
    providers: { one: ["chat", () => responseOf([JSON.stringify(bare)], "application/json")] },
  });
  const request = requestOf("chat", {
    body: bodyOf("chat", { messages: [{ role: "user", content: "Say it. ".repeat(9_000) }] }),
  });
  await (await service.handle(request)).text();
  assertEquals(request.bytes.length, 0);
  const { usage } = itemAt(recorder.charges, 0);
  assert(usage?.estimated && usage.freshTokens! > 9_000);
});

Deno.test("TextService frees a large request after the stream, whose missing usage it estimates before", async () => {
  const lines = wireOf("chat", REPLY).split("\n\n").filter((frame) => !frame.includes('"usage":{'));
  const { service, recorder } = textGatewayOf({
    providers: { one: ["chat", () => responseOf([lines.join("\n\n")], "text/event-stream")] },
  });
  const request = requestOf("chat", {
    body: bodyOf("chat", { stream: true, messages: [{ role: "user", content: "Say it. ".repeat(9_000) }] }),
  });
  await (await service.handle(request)).text();
  assertEquals(request.bytes.length, 0);
  const { usage } = itemAt(recorder.charges, 0);
  assert(usage?.estimated && usage.freshTokens! > 9_000);
});

Deno.test("TextService always requests usage in a chat vendor's stream", async () => {
  const { service, sent } = textGatewayOf({ providers: { one: ["chat", streamed("chat")] } });
  const others: JsonObject[] = [{}, { stream_options: null }, { stream_options: { include_usage: false, x: 1 } }];
  for (const fields of others) {
    const body = bodyOf("chat", { stream: true, ...fields });
    await (await service.handle(requestOf("chat", { body }))).text();
  }
  const options = sent.map(({ body }) => body.stream_options);
  assertEquals(options, [{ include_usage: true }, { include_usage: true }, { include_usage: true, x: 1 }]);
});

Deno.test("TextService sends a content vendor the original bytes and store: false, with the model in the path only", async () => {
  const { service, sent } = textGatewayOf({ providers: { one: ["content", wholeReply("content")] } });
  const text = '{ "contents":[{"parts":[{"text":"Hi"}]}], "extra_body": {"provider":{"type":"nosuch"}}, "x": 1.0 }';
  await (await service.handle(
    requestOf("content", { text, body: { ...JSON.parse(text), model: "acme/m", stream: false } }),
  ))
    .text();
  const { text: passed, call: { path } } = itemAt(sent, 0);
  assertEquals(passed, '{ "contents":[{"parts":[{"text":"Hi"}]}], "x": 1.0,"store":false }');
  assertEquals(path, "/content/vm/false");
});

Deno.test("TextService returns one JSON list to a content caller that requests it, from any vendor", async () => {
  for (const vendor of FORMATS) {
    const { service, recorder } = textGatewayOf({ providers: { one: [vendor, streamed(vendor)] } });
    const response = await service.handle(requestOf("content", { stream: true, framing: "json_array" }));
    assertEquals(response.headers.get("content-type"), "application/json");
    const list = await response.json();
    assertEquals(list.at(-1).candidates[0].finishReason, "STOP");
    assertEquals(recorder.charges.length, 1);
  }
});

Deno.test("TextService forwards the caller's header features only to vendors of the caller's format", async () => {
  const forwarded: Record<string, string> = { "anthropic-beta": "a-feature" };
  const header = (name: string) => forwarded[name] ?? null;
  for (const [vendor, headers] of [["messages", forwarded], ["chat", {}]] as const) {
    const { service, sent } = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] } });
    await (await service.handle(requestOf("messages", { header }))).text();
    assertEquals(itemAt(sent, 0).call.headers, headers);
  }
});

Deno.test("TextService withholds a whole reply whose charge is lost, and does not release the charged amount", async () => {
  const { service, recorder } = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] } });
  recorder.durable = () => Promise.reject(new GatewayError("internal_error", "the charge is lost"));
  assertEquals((await errorOf(service.handle(requestOf("chat")))).code, "internal_error");
  assertEquals([recorder.charges.length, recorder.releases], [1, 0]);
});
