import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { JsonObject } from "../../src/lib/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/reasoning_signature.ts";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import type { TextRequest } from "../../src/texts/attempt.ts";
import { routeTo } from "../../src/texts/text_options.ts";
import { itemAt, valueAt } from "../support/items.ts";
import { type Behaviour, errorOf, failing, streamed, textGatewayOf, wholeReply } from "./text_gateway.ts";
import { FORMATS } from "../support/formats.ts";
import { bodyOf, requestOf, responseOf } from "./support.ts";

for (const form of FORMATS) {
  Deno.test(`TextTurns lowers a ${form} limit above the model's, names the field and reserves what is sent`, async () => {
    const { service: turns, sent, estimates } = textGatewayOf({ providers: { one: [form, wholeReply(form)] } });
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
      const response = await turns.handle(requestOf(form, { body: bodyOf(form, field) }));
      await response.text();
      assertEquals(response.headers.get("x-service-dropped"), name);
      assert(!JSON.stringify(sent.at(-1)).includes("1001"));
      const allowed = JSON.parse(JSON.stringify(field).replace("1001", "1000"));
      const fitting = await turns.handle(requestOf(form, { body: bodyOf(form, allowed) }));
      await fitting.text();
      assertEquals(fitting.headers.get("x-service-dropped"), null);
      assertEquals(estimates.at(-1), estimates.at(-2));
    }
    assertEquals(sent.length, fields[form].length * 2);
  });
}

Deno.test("TextTurns answers 402 before any upstream call", async () => {
  const { service: turns, sent, recorder: till } = textGatewayOf({
    providers: { one: ["chat", wholeReply("chat")] },
    isBroke: true,
  });
  assertEquals((await errorOf(turns.handle(requestOf("chat")))).status, 402);
  assertEquals([sent.length, till.releases], [0, 0]);
});

Deno.test("TextTurns refuses an unknown model, and one that does not talk", async () => {
  const { service: turns, sent } = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] } });
  const unknown = await errorOf(turns.handle(requestOf("chat", { model: "acme/\n<none>" })));
  assertEquals([unknown.code, unknown.message], [
    "model_not_found",
    'Cannot find the model "acme/?<none>"; the nearest: "acme/m"',
  ]);
  const picture = await errorOf(turns.handle(requestOf("chat", { model: "acme/picture" })));
  assertEquals(picture.status, 400);
  assertStringIncludes(picture.message, "/v1/images/generations");
  assertEquals(sent.length, 0);
});

Deno.test("TextTurns reserves for a turn by its bytes and its limit, and for no more than the model can say", async () => {
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
    const { service: turns, estimates } = textGatewayOf({ providers: { one: ["chat", wholeReply("chat")] }, model });
    const limits = [{ max_tokens: 10 }, {}, ...name === "known" ? [] : [{ max_tokens: 1e300 }]];
    const bytes: number[] = [];
    for (const limit of limits) {
      const turn = requestOf("chat", { body: bodyOf("chat", limit) });
      bytes.push(Math.ceil(turn.bytes.length / 2));
      await (await turns.handle(turn)).text();
    }
    // 0.001 USD a prompt token and 0.002 a token of the reply, in units of 10^-10 USD.
    const expected = valueAt(outputs, name).map((output, at) =>
      BigInt(itemAt(bytes, at)) * 10_000_000n + BigInt(output) * 20_000_000n
    );
    assertEquals(estimates, expected, name);
  }
});

Deno.test("TextTurns tries the next provider after a failure that is not the request's, each once", async () => {
  for (const kind of ["unreachable", "timeout", "broken", "auth", "rate_limited", "unavailable"] as const) {
    const providers = { one: ["chat", failing(kind, 503)], two: ["chat", wholeReply("chat")] } as const;
    const { service: turns, sent, recorder: till, logEntries: lines } = textGatewayOf({ providers });
    const response = await turns.handle(requestOf("chat"));
    assertEquals(sent.map(({ provider }) => provider), ["one", "two"]);
    assertEquals(response.headers.get("x-service-provider"), "two");
    assertEquals([till.charges.length, till.charges[0]?.provider, till.releases], [1, "two", 0]);
    const failedOver = lines.filter(({ event }) => event === "upstream_failed_over");
    assertEquals(failedOver.map(({ fields }) => [fields.provider, fields.code]), [["one", kind]]);
  }
});

Deno.test("TextTurns tries the next provider when a stream's answer is none, before the first byte", async () => {
  const html = () => responseOf(["<html>"], "text/html");
  const { service: turns, sent } = textGatewayOf({
    providers: { one: ["chat", html], two: ["messages", streamed("messages")] },
  });
  const response = await turns.handle(requestOf("chat", { body: bodyOf("chat", { stream: true }) }));
  assertStringIncludes(await response.text(), "世界");
  assertEquals(sent.map(({ provider }) => provider), ["one", "two"]);
});

Deno.test("TextTurns gives the last failure when all fail, and releases the turn once", async () => {
  const providers = {
    one: ["chat", failing("unavailable", 500)],
    two: ["messages", failing("rate_limited", 429)],
  } as const;
  const { service: turns, recorder: till } = textGatewayOf({ providers });
  assertEquals((await errorOf(turns.handle(requestOf("chat")))).code, "rate_limited");
  assertEquals([till.charges.length, till.releases], [0, 1]);
});

Deno.test("TextTurns gives a refusal of the request at once, and asks nobody else", async () => {
  const providers = { one: ["chat", failing("invalid", 422)], two: ["chat", wholeReply("chat")] } as const;
  const { service: turns, sent, recorder: till } = textGatewayOf({ providers });
  assertEquals((await errorOf(turns.handle(requestOf("chat")))).status, 422);
  assertEquals([sent.length, till.releases], [1, 1]);
});

Deno.test("TextTurns rests a provider that failed twice in a row, and comes back to it later", async () => {
  let isWell = false;
  const one: Behaviour = (call) => (isWell ? wholeReply("chat") : failing("unavailable", 500))(call);
  const { service: turns, sent, clock } = textGatewayOf({
    providers: { one: ["chat", one], two: ["chat", wholeReply("chat")] },
  });
  const asked = async () => {
    const before = sent.length;
    await (await turns.handle(requestOf("chat"))).text();
    return sent.slice(before).map(({ provider }) => provider).join(" ");
  };
  assertEquals([await asked(), await asked(), await asked()], ["one two", "one two", "two"]);
  isWell = true;
  clock.advance(10_000);
  assertEquals([await asked(), await asked()], ["one", "one"]);
});

Deno.test("TextTurns asks the pinned provider alone", async () => {
  const providers = {
    one: ["chat", wholeReply("chat")],
    two: ["chat", failing("unavailable", 500)],
    stranger: ["chat", wholeReply("chat")],
  } as const;
  const { service: turns, sent, recorder: till } = textGatewayOf({ providers });
  assertEquals((await errorOf(turns.handle(requestOf("chat", { headerPin: "two" })))).status, 502);
  assertEquals((await errorOf(turns.handle(requestOf("chat", { bodyPin: "two" })))).status, 502);
  assertEquals(sent.map(({ provider }) => provider), ["two", "two"]);
  const refusals: [string | null, string | null, string][] = [
    ["nosuch", null, "invalid_provider_type"],
    [null, "nosuch", "invalid_provider_type"],
    ["stranger", null, "provider_type_unavailable"],
    ["one", "two", "invalid_request"],
  ];
  for (const [headerPin, bodyPin, code] of refusals) {
    const error = await errorOf(turns.handle(requestOf("chat", { headerPin, bodyPin })));
    assertEquals([error.code, error.status], [code, 400]);
  }
  assertEquals([sent.length, till.releases], [2, 2]);
});

Deno.test("TextTurns goes by weight among providers, and by its own dice", async () => {
  const providers = { one: ["chat", wholeReply("chat")], two: ["chat", wholeReply("chat")] } as const;
  const { service: turns, sent } = textGatewayOf({ providers, random: () => 0.9 });
  await (await turns.handle(requestOf("chat"))).text();
  assertEquals(sent[0]?.provider, "two");
});

Deno.test("TextTurns answers 500 and releases the turn when something of its own breaks", async () => {
  const { service: turns, recorder: till } = textGatewayOf({
    providers: {
      one: ["chat", () => {
        throw new RangeError("a bug");
      }],
    },
  });
  await assertRejects(() => turns.handle(requestOf("chat")), RangeError);
  assertEquals(till.releases, 1);
});

const CACHE = { id: "c1", field: "cachedContent", model: "acme/m", provider: "one", tokens: 9 } as const;

Deno.test("TextTurns leaves misconfigured providers out, also that of a cache whose content the gateway has", () => {
  const providers = { one: ["content", wholeReply("content")], two: ["content", wholeReply("content")] } as const;
  const { service: turns } = textGatewayOf({ providers, misconfigured: ["one"] });
  const namesFor = (cache: NonNullable<TextRequest["cache"]> | null) =>
    routeTo(requestOf("content", { cache }), turns.parts.catalog.find("acme/m")!, turns.parts).map(({ provider }) =>
      provider
    );
  const open = () => Promise.reject(new Error("not opened"));
  assertEquals(namesFor(null), ["two"]);
  assertEquals(namesFor({ ...CACHE, kind: "emulated", open }), ["two"]);
  const native = { ...CACHE, kind: "native", upstreamName: "cachedContents/x" } as const;
  assertEquals(assertThrows(() => namesFor(native), GatewayError).code, "upstream_auth_failed");
});

Deno.test("TextTurns answers upstream_auth_failed at once when all providers are misconfigured", async () => {
  const { service: turns, sent, estimates } = textGatewayOf({
    providers: { one: ["chat", wholeReply("chat")] },
    misconfigured: ["one"],
  });
  const error = await errorOf(turns.handle(requestOf("chat")));
  assertEquals([error.code, error.status, error.details.provider], ["upstream_auth_failed", 401, "one"]);
  assertEquals([sent.length, estimates.length], [0, 0]);
});
