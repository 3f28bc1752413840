import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { TextRequest } from "../../src/services/texts/plan/attempt.ts";
import { routeTo } from "../../src/services/texts/request/text_options.ts";
import { itemAt, valueAt } from "../support/items.ts";
import { type Behaviour, errorOf, failing, streamed, textGatewayOf, wholeReply } from "./text_gateway.ts";
import { FORMATS } from "../support/formats.ts";
import { bodyOf, requestOf, responseOf } from "./support.ts";

for (const form of FORMATS) {
  Deno.test(`TextService lowers a ${form} limit above the model's, names the field and reserves what is sent`, async () => {
    const { service, sent, estimates } = textGatewayOf({ providers: { one: [form, wholeReply(form)] } });
    const fields: Record<CallerFormatName, readonly [JsonObject, string][]> = {
      chat: [[{ max_tokens: 1001 }, "max_tokens"], [{ max_completion_tokens: 1001 }, "max_completion_tokens"]],
      responses: [[{ max_output_tokens: 1001 }, "max_output_tokens"]],
      messages: [[{ max_tokens: 1001 }, "max_tokens"]],
      content: [
        [{ generationConfig: { maxOutputTokens: 1001 } }, "generationConfig.maxOutputTokens"],
        [{ generationConfig: { max_output_tokens: 1001 } }, "generationConfig.max_output_tokens"],
        [{ generation_config: { max_output_tokens: 1001 } }, "generation_config.max_output_tokens"],
      ],
    };
    for (const [field, name] of fields[form]) {
      const response = await service.handle(requestOf(form, { body: bodyOf(form, field) }));
      await response.text();
      assertEquals(response.headers.get("x-service-dropped"), name);
      assert(!JSON.stringify(sent.at(-1)).includes("1001"));
      const allowed = JSON.parse(JSON.stringify(field).replace("1001", "1000"));
      const fitting = await service.handle(requestOf(form, { body: bodyOf(form, allowed) }));
      await fitting.text();
      assertEquals(fitting.headers.get("x-service-dropped"), null);
      assertEquals(estimates.at(-1), estimates.at(-2));
    }
    assertEquals(sent.length, fields[form].length * 2);
  });
}

Deno.test("TextService returns 402 before any upstream call", async () => {
  const { service, sent, recorder } = textGatewayOf({
    providers: { one: ["chat", wholeReply("chat")] },
    isBroke: true,
  });
  assertEquals((await errorOf(service.handle(requestOf("chat")))).status, 402);
  assertEquals([sent.length, recorder.releases], [0, 0]);
});

Deno.test("TextService rejects an unknown model and one without text", async () => {
  const { service, sent } = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] } });
  const unknown = await errorOf(service.handle(requestOf("chat", { model: "acme/\n<none>" })));
  assertEquals([unknown.code, unknown.message], [
    "model_not_found",
    'Cannot find the model "acme/?<none>"; the nearest: "acme/m"',
  ]);
  const picture = await errorOf(service.handle(requestOf("chat", { model: "acme/picture" })));
  assertEquals(picture.status, 400);
  assertStringIncludes(picture.message, "/v1/images/generations");
  assertEquals(sent.length, 0);
});

Deno.test("TextService reserves by the request's bytes and its limit, at most the model's output", async () => {
  const most: Record<string, JsonObject> = {
    known: {},
    "context only": { top_provider: {}, context_length: 2000 },
    unknown: { top_provider: {} },
  };
  const outputs: Record<string, number[]> = {
    known: [16, 1000],
    "context only": [16, 2000, 2000],
    unknown: [16, 1_000_000, 1_000_000],
  };
  for (const [name, model] of Object.entries(most)) {
    const { service, estimates } = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] }, model });
    const limits = [{ max_tokens: 10 }, {}, ...name === "known" ? [] : [{ max_tokens: 1e300 }]];
    const bytes: number[] = [];
    for (const limit of limits) {
      const request = requestOf("chat", { body: bodyOf("chat", limit) });
      bytes.push(Math.ceil(request.bytes.length / 2));
      await (await service.handle(request)).text();
    }
    // 0.001 USD per prompt token and 0.002 per reply token, in units of 10^-10 USD.
    const expected = valueAt(outputs, name).map((output, at) =>
      BigInt(itemAt(bytes, at)) * 10_000_000n + BigInt(output) * 20_000_000n
    );
    assertEquals(estimates, expected, name);
  }
});

Deno.test("TextService tries each other provider once after a failure that the request did not cause", async () => {
  for (const kind of ["unreachable", "timeout", "broken", "auth", "rate_limited", "unavailable"] as const) {
    const providers = { one: ["chat", failing(kind, 503)], two: ["chat", wholeReply("chat")] } as const;
    const { service, sent, recorder, logEntries } = textGatewayOf({ providers });
    const response = await service.handle(requestOf("chat"));
    assertEquals(sent.map(({ provider }) => provider), ["one", "two"]);
    assertEquals(response.headers.get("x-service-provider"), "two");
    assertEquals([recorder.charges.length, recorder.charges[0]?.provider, recorder.releases], [1, "two", 0]);
    const failedOver = logEntries.filter(({ event }) => event === "upstream_failed_over");
    assertEquals(failedOver.map(({ fields }) => [fields.provider, fields.code]), [["one", kind]]);
  }
});

Deno.test("TextService tries the next provider if the response is not a stream, before the first byte", async () => {
  const html = () => responseOf(["<html>"], "text/html");
  const { service, sent } = textGatewayOf({
    providers: { one: ["chat", html], two: ["messages", streamed("messages")] },
  });
  const response = await service.handle(requestOf("chat", { body: bodyOf("chat", { stream: true }) }));
  assertStringIncludes(await response.text(), "世界");
  assertEquals(sent.map(({ provider }) => provider), ["one", "two"]);
});

Deno.test("TextService throws the last failure if all providers fail, and releases the reservation once", async () => {
  const providers = {
    one: ["chat", failing("unavailable", 500)],
    two: ["messages", failing("rate_limited", 429)],
  } as const;
  const { service, recorder } = textGatewayOf({ providers });
  assertEquals((await errorOf(service.handle(requestOf("chat")))).code, "rate_limited");
  assertEquals([recorder.charges.length, recorder.releases], [0, 1]);
});

Deno.test("TextService throws a rejection of the request at once, without trying other providers", async () => {
  const providers = { one: ["chat", failing("invalid", 422)], two: ["chat", wholeReply("chat")] } as const;
  const { service, sent, recorder } = textGatewayOf({ providers });
  assertEquals((await errorOf(service.handle(requestOf("chat")))).status, 422);
  assertEquals([sent.length, recorder.releases], [1, 1]);
});

Deno.test("TextService skips a provider that failed twice in a row, and tries it again later", async () => {
  let isWell = false;
  const one: Behaviour = (call) => (isWell ? wholeReply("chat") : failing("unavailable", 500))(call);
  const { service, sent, clock } = textGatewayOf({
    providers: { one: ["chat", one], two: ["chat", wholeReply("chat")] },
  });
  const asked = async () => {
    const before = sent.length;
    await (await service.handle(requestOf("chat"))).text();
    return sent.slice(before).map(({ provider }) => provider).join(" ");
  };
  assertEquals([await asked(), await asked(), await asked()], ["one two", "one two", "two"]);
  isWell = true;
  clock.advance(10_000);
  assertEquals([await asked(), await asked()], ["one", "one"]);
});

Deno.test("TextService uses only the pinned provider", async () => {
  const providers = {
    one: ["chat", wholeReply("chat")],
    two: ["chat", failing("unavailable", 500)],
    stranger: ["chat", wholeReply("chat")],
  } as const;
  const { service, sent, recorder } = textGatewayOf({ providers });
  assertEquals((await errorOf(service.handle(requestOf("chat", { headerPin: "two" })))).status, 502);
  assertEquals((await errorOf(service.handle(requestOf("chat", { bodyPin: "two" })))).status, 502);
  assertEquals(sent.map(({ provider }) => provider), ["two", "two"]);
  const refusals: [string | null, string | null, string][] = [
    ["nosuch", null, "invalid_provider_type"],
    [null, "nosuch", "invalid_provider_type"],
    ["stranger", null, "provider_type_unavailable"],
    ["one", "two", "invalid_request"],
  ];
  for (const [headerPin, bodyPin, code] of refusals) {
    const error = await errorOf(service.handle(requestOf("chat", { headerPin, bodyPin })));
    assertEquals([error.code, error.status], [code, 400]);
  }
  assertEquals([sent.length, recorder.releases], [2, 2]);
});

Deno.test("TextService chooses providers by weight and at random", async () => {
  const providers = { one: ["chat", wholeReply("chat")], two: ["chat", wholeReply("chat")] } as const;
  const { service, sent } = textGatewayOf({ providers, random: () => 0.9 });
  await (await service.handle(requestOf("chat"))).text();
  assertEquals(sent[0]?.provider, "two");
});

Deno.test("TextService returns 500 and releases the reservation after an internal error", async () => {
  const { service, recorder } = textGatewayOf({
    providers: {
      one: ["chat", () => {
        throw new RangeError("a bug");
      }],
    },
  });
  await assertRejects(() => service.handle(requestOf("chat")), RangeError);
  assertEquals(recorder.releases, 1);
});

const CACHE = { id: "c1", field: "cachedContent", model: "acme/m", provider: "one", tokens: 9 } as const;

Deno.test("TextService skips misconfigured providers, also the one of a cache whose content the gateway keeps", () => {
  const providers = { one: ["content", wholeReply("content")], two: ["content", wholeReply("content")] } as const;
  const { service } = textGatewayOf({ providers, misconfigured: ["one"] });
  const namesFor = (cache: NonNullable<TextRequest["cache"]> | null) =>
    routeTo(requestOf("content", { cache }), service.parts.catalog.at(0).find("acme/m")!, service.parts)
      .map(({ provider }) => provider);
  const open = () => Promise.reject(new Error("not opened"));
  assertEquals(namesFor(null), ["two"]);
  assertEquals(namesFor({ ...CACHE, kind: "emulated", open }), ["two"]);
  const native = { ...CACHE, kind: "native", upstreamName: "cachedContents/x" } as const;
  assertEquals(assertThrows(() => namesFor(native), GatewayError).code, "upstream_auth_failed");
});

Deno.test("TextService returns upstream_auth_failed at once if all providers are misconfigured", async () => {
  const { service, sent, estimates } = textGatewayOf({
    providers: { one: ["chat", wholeReply("chat")] },
    misconfigured: ["one"],
  });
  const error = await errorOf(service.handle(requestOf("chat")));
  assertEquals([error.code, error.status, error.details.provider], ["upstream_auth_failed", 401, "one"]);
  assertEquals([sent.length, estimates.length], [0, 0]);
});
