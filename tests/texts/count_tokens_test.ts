import { unobservedRecord } from "../support/unobserved_record.ts";
import { CODECS } from "../support/formats.ts";
import { assert, assertEquals } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { type CountRequest, countTokens } from "../../src/services/texts/request/count_tokens.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { contentEndpoint } from "../../src/vendors/upstreams/google/text.ts";
import { messagesEndpoint } from "../../src/vendors/upstreams/anthropic/text.ts";
import { chatEndpoint, responsesEndpoint } from "../../src/vendors/upstreams/openai/text.ts";
import type { TextEndpoint } from "../../src/vendors/upstreams/contract/upstream.ts";
import { conversationOf } from "../support/conversations.ts";
import { itemAt } from "../support/items.ts";
import { type Behaviour, errorOf, failing, textGatewayOf } from "./text_gateway.ts";
import { responseOf } from "./support.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";

const ENDPOINTS: Readonly<Record<CallerFormatName, TextEndpoint>> = {
  chat: chatEndpoint,
  responses: responsesEndpoint,
  messages: messagesEndpoint,
  content: contentEndpoint,
};

const DOWN = new UpstreamFailure("one", "unavailable", "Said the vendor", { status: 503, accepted: "no" });

function says(answer: string): Behaviour {
  return () => responseOf([answer], "application/json");
}

/** A gateway whose providers have the vendors' real endpoints, counters included. */
function counting(providers: Readonly<Record<string, readonly [CallerFormatName, Behaviour]>>) {
  return textGatewayOf({ providers, endpoint: (form) => ENDPOINTS[form] });
}

function requestWith(fields: Partial<CountRequest> = {}): CountRequest {
  return {
    accountId: "demo",
    keyId: "key_1",
    limits: null,
    receivedAt: 0,
    model: "acme/m",
    format: CODECS.messages.caller,
    body: {},
    conversation: conversationOf({ instructions: [{ kind: "text", text: "Be brief" }] }),
    headerPin: null,
    bodyPin: null,
    callerSignal: () => new AbortController().signal,
    memory: UNLIMITED_MEMORY.lease(),
    record: unobservedRecord(),
    ...fields,
  };
}

for (
  const [form, path, answer, names] of [
    ["messages", "/v1/messages/count_tokens", '{"input_tokens":41}', ["messages", "model", "system"]],
    ["responses", "/responses/input_tokens", '{"input_tokens":41}', ["input", "instructions", "model"]],
    ["content", "/v1beta/models/vm:countTokens", '{"totalTokens":41}', ["generateContentRequest"]],
  ] as const
) {
  Deno.test(`countTokens() uses the counter of a ${form} vendor and reports it as the source`, async () => {
    const { service, sent, estimates } = counting({ one: [form, says(answer)] });
    assertEquals(await countTokens(requestWith(), service.parts), { tokens: 41, countedBy: "one" });
    assertEquals(itemAt(sent, 0).call.path, path);
    assertEquals(Object.keys(itemAt(sent, 0).body).sort(), [...names]);
    assertEquals(estimates, [], "a count costs nothing");
  });

  for (
    const [name, broken] of [["HTML", "<html>"], ["no count", "{}"], [
      "a count in words",
      answer.replace("41", '"41"'),
    ]] as const
  ) {
    Deno.test(`countTokens() reads ${name} from a ${form} counter as an unreadable response`, async () => {
      const { service } = counting({ one: [form, says(broken)] });
      const error = await errorOf(countTokens(requestWith(), service.parts));
      assertEquals([error.code, error.message], [
        "upstream_error",
        'Provider "one" returned an invalid token count',
      ]);
    });
  }
}

Deno.test("countTokens() uses the gateway's tokenizer if no provider of the model has a counter", async () => {
  const { service, sent } = counting({ one: ["chat", says("{}")] });
  const { tokens, countedBy } = await countTokens(requestWith(), service.parts);
  assertEquals([countedBy, sent.length], [null, 0]);
  assert(tokens > 3 && tokens < 20, String(tokens));
});

Deno.test("countTokens() reports nothing to the circuit breaker if it sends no request", async () => {
  const { service, sent } = counting({ one: ["chat", says("{}")], two: ["chat", says("{}")] });
  const { breaker } = service.parts;
  const target = { provider: "one", model: "vm" };
  for (const account of ["a", "b"]) breaker.onStart(target, account).failed(DOWN);
  await countTokens(requestWith(), service.parts);
  assertEquals([breaker.availabilityOf(target, "a"), sent.length], ["resting", 0]);
});

Deno.test("countTokens() prefers a provider that counts, and tries the next after a failure", async () => {
  const { service, sent } = counting({
    plain: ["chat", says("{}")],
    busy: ["messages", failing("unavailable", 529)],
    well: ["content", says('{"totalTokens":7}')],
  });
  assertEquals(await countTokens(requestWith(), service.parts), { tokens: 7, countedBy: "well" });
  assertEquals(sent.map(({ provider }) => provider), ["busy", "well"]);
});

const SOUND = conversationOf({
  turns: [{
    role: "user",
    parts: [{ kind: "audio", source: { kind: "base64", mediaType: "audio/wav", data: "UklGRg==" } }],
  }],
});

Deno.test("countTokens() skips a provider whose format cannot express the request, without recording a failure", async () => {
  const { service, sent, logEntries } = counting({
    deaf: ["messages", says('{"input_tokens":1}')],
    well: ["content", says('{"totalTokens":7}')],
  });
  const { breaker } = service.parts;
  const target = { provider: "deaf", model: "vm" };
  breaker.onStart(target, "a").failed(DOWN);
  for (let time = 0; time < 3; time++) {
    const count = await countTokens(requestWith({ conversation: SOUND }), service.parts);
    assertEquals(count, { tokens: 7, countedBy: "well" });
  }
  assertEquals(sent.map(({ provider }) => provider), ["well", "well", "well"]);
  const { failuresInARow } = itemAt(itemAt(breaker.health(), 0).models, 0);
  assertEquals([breaker.availabilityOf(target, "a"), failuresInARow], ["available", 1]);
  assertEquals(logEntries.map(({ event, fields }) => [event, fields.provider, fields.code]).at(-1), [
    "upstream_failed_over",
    "deaf",
    "invalid_request",
  ]);
});

Deno.test("countTokens() throws the format's error if no other provider is left", async () => {
  const { service, sent } = counting({ deaf: ["messages", says('{"input_tokens":1}')] });
  const error = await errorOf(countTokens(requestWith({ conversation: SOUND }), service.parts));
  assertEquals([error.code, sent.length], ["invalid_request", 0]);
});

Deno.test("countTokens() uses the gateway's tokenizer if a request would fall back to a provider without a counter", async () => {
  const providers = { busy: ["messages", failing("unavailable", 529)], plain: ["chat", says("{}")] } as const;
  const { service, sent, logEntries } = counting(providers);
  assertEquals((await countTokens(requestWith(), service.parts)).countedBy, null);
  assertEquals(sent.map(({ provider }) => provider), ["busy"]);
  assertEquals(logEntries, [{
    event: "count_estimated",
    fields: { model: "acme/m", code: "unavailable", status: 529 },
  }]);
  const pinned = await errorOf(countTokens(requestWith({ headerPin: "busy" }), service.parts));
  assertEquals(pinned.code, "upstream_error");
  const refusing = counting({ ...providers, busy: ["messages", failing("invalid", 400)] });
  assertEquals((await errorOf(countTokens(requestWith(), refusing.service.parts))).code, "invalid_request");
});

Deno.test("countTokens() reports failures and successes to the circuit breaker", async () => {
  let isWell = false;
  const { service } = counting({
    one: ["messages", (call) => isWell ? says('{"input_tokens":1}')(call) : failing("unavailable", 503)(call)],
  });
  const { breaker } = service.parts;
  const target = { provider: "one", model: "vm" };
  for (const accountId of ["a", "b"]) await errorOf(countTokens(requestWith({ accountId }), service.parts));
  assertEquals(breaker.availabilityOf(target, "a"), "resting");
  isWell = true;
  await countTokens(requestWith(), service.parts);
  assertEquals(breaker.availabilityOf(target, "a"), "available");
});

Deno.test("countTokens() throws the same error for a vendor's rejection as a text request", async () => {
  for (
    const [kind, status, code] of [["invalid", 400, "invalid_request"], ["rate_limited", 429, "rate_limited"]] as const
  ) {
    const { service } = counting({ one: ["messages", failing(kind, status)] });
    assertEquals((await errorOf(countTokens(requestWith(), service.parts))).code, code);
  }
});

Deno.test("countTokens() follows pins and rejects an unknown model", async () => {
  const { service, sent } = counting({
    one: ["messages", says('{"input_tokens":1}')],
    two: ["content", says('{"totalTokens":2}')],
  });
  assertEquals((await countTokens(requestWith({ headerPin: "two" }), service.parts)).countedBy, "two");
  assertEquals((await countTokens(requestWith({ bodyPin: "one" }), service.parts)).countedBy, "one");
  const refused = await errorOf(countTokens(requestWith({ headerPin: "nosuch" }), service.parts));
  assertEquals(refused.code, "invalid_provider_type");
  const unknown = await errorOf(countTokens(requestWith({ model: "acme/none" }), service.parts));
  assertEquals([unknown.code, sent.length], ["model_not_found", 2]);
});

Deno.test("countTokens() converts every vendor failure to a gateway error", async () => {
  const { service } = counting({ one: ["messages", failing("unreachable")] });
  const error = await countTokens(requestWith(), service.parts).catch((thrown) => thrown);
  assert(error instanceof GatewayError && !(error instanceof UpstreamFailure));
});
