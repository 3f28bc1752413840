import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";
import { CALLER_PROTOCOLS, CHAT, CONTENT, MESSAGES, RESPONSES, sendAs } from "./caller_protocols.ts";

/** A model that uses the first provider as long as that one answers, then the second. */
function inOrder(id: string, first: string, second: string) {
  return { ...textModel(id, []), serves: [{ provider: first, weight: 1 }, { provider: second, weight: 0 }] };
}

const gateway = await startTestGateway({
  config: {
    models: [
      inOrder("sandbox/openai-first", "sandbox-openai", "sandbox-anthropic"),
      inOrder("sandbox/google-first", "sandbox-google", "sandbox-anthropic"),
      textModel("sandbox/any-1", ["sandbox-openai", "sandbox-anthropic", "sandbox-google"]),
    ],
  },
});
const account = accountMoney(gateway);

/** Families that were called since a position in the list. */
function askedSince(mark: number): string[] {
  return gateway.sandbox.requests.slice(mark).map(({ path }) => itemAt(path.split("/"), 1));
}

Deno.test("a failure before the first byte is retried at the next provider, which the header and the ledger name", async () => {
  for (const order of ["[[google: fail 503]]", "[[google: fail 429 7]]", "[[google: fail 408]]", "[[google: html]]"]) {
    for (const stream of [false, true]) {
      const mark = gateway.sandbox.requests.length;
      const answer = await sendAs(CHAT, gateway, { model: "sandbox/google-first", text: `${order} hi you`, stream });
      assertEquals([answer.status, answer.headers.get("x-service-provider")], [200, "sandbox-anthropic"], answer.text);
      assertMatch(answer.text, /You/);
      assertEquals(askedSince(mark), ["google", "anthropic"]);
      assertEquals((await account.latestCharge())?.provider, "sandbox-anthropic");
      await sendAs(CHAT, gateway, { model: "sandbox/google-first", text: "well" }); // closes the circuit again
    }
  }
});

Deno.test("a refusal of the request is returned at once and not retried", async () => {
  for (const face of CALLER_PROTOCOLS) {
    const mark = gateway.sandbox.requests.length;
    const answer = await sendAs(face, gateway, { model: "sandbox/google-first", text: "[[fail 400 Not that]] hi" });
    assertEquals([answer.status, askedSince(mark)], [400, ["google"]]);
    assertStringIncludes(answer.json.error.message, "Not that");
  }
});

Deno.test("a stream that breaks after its first byte is not restarted elsewhere", async () => {
  const mark = gateway.sandbox.requests.length;
  const text = "[[cut 3]] [[words 30]] go";
  const answer = await sendAs(CHAT, gateway, { model: "sandbox/openai-first", text, stream: true });
  assertEquals([answer.status, askedSince(mark)], [200, ["openai"]]);
  assertStringIncludes(answer.text, '"error"');
  assert(!answer.text.includes("[DONE]"), "A broken stream has no end mark");
});

Deno.test("a pin by header or body sends to that provider only, in every protocol", async () => {
  for (const provider of ["openai", "anthropic", "google"]) {
    const name = `sandbox-${provider}`;
    for (const face of CALLER_PROTOCOLS) {
      const mark = gateway.sandbox.requests.length;
      const headers = { "x-service-provider-type": name };
      const answer = await sendAs(face, gateway, { model: "sandbox/any-1", headers });
      assertEquals([answer.status, answer.headers.get("x-service-provider")], [200, name]);
      assertEquals([askedSince(mark), face.textIn(answer.json)], [[provider], "You said: hello there"]);
    }
    for (const face of [CHAT, RESPONSES, MESSAGES]) {
      const mark = gateway.sandbox.requests.length;
      const extra = { extra_body: { provider: { type: name } } };
      const answer = await sendAs(face, gateway, { model: "sandbox/any-1", extra });
      assertEquals([answer.status, answer.headers.get("x-service-provider")], [200, name]);
      assertEquals(askedSince(mark), [provider]);
      assert(!JSON.stringify(gateway.sandbox.requests.at(-1)!.body).includes("extra_body"), "The vendor sees no pin");
    }
  }
});

Deno.test("a pinned provider that fails is not replaced", async () => {
  const mark = gateway.sandbox.requests.length;
  const headers = { "x-service-provider-type": "sandbox-google" };
  const answer = await sendAs(CONTENT, gateway, { model: "sandbox/any-1", text: "[[fail 503]] hi", headers });
  assertEquals([answer.status, answer.json.error.status, askedSince(mark)], [503, "UNAVAILABLE", ["google"]]);
});

Deno.test("an unpinned model uses each of its providers in turn", async () => {
  const mark = gateway.sandbox.requests.length;
  for (let asked = 0; asked < 60; asked++) await sendAs(CHAT, gateway, { model: "sandbox/any-1" });
  assertEquals([...new Set(askedSince(mark))].toSorted(), ["anthropic", "google", "openai"]);
});

Deno.test("every answer has its own request id", async () => {
  const ids = new Set<string>();
  for (const face of CALLER_PROTOCOLS) {
    for (const model of ["sandbox/any-1", "sandbox/nowhere"]) {
      const { headers } = await sendAs(face, gateway, { model });
      assertMatch(headers.get("x-service-request-id") ?? "", /^req_[0-9a-f]{24}$/);
      assertEquals(headers.get("x-request-id"), headers.get("x-service-request-id"));
      ids.add(headers.get("x-service-request-id")!);
    }
  }
  assertEquals(ids.size, 8);
});

Deno.test("a provider that fails five times in a row has an open circuit, and is not called while it is open", async () => {
  for (let asked = 0; asked < 5; asked++) {
    const text = `[[openai: fail 500]] try ${asked}`;
    const { status } = await sendAs(CHAT, gateway, { model: "sandbox/openai-first", text });
    assertEquals(status, 200);
  }
  const mark = gateway.sandbox.requests.length;
  const answer = await sendAs(CHAT, gateway, { model: "sandbox/openai-first", text: "all well" });
  assertEquals([answer.status, askedSince(mark)], [200, ["anthropic"]]);
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
