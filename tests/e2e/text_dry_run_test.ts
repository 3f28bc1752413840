import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { assertErrorShape, CALLER_PROTOCOLS, CHAT, CONTENT, type Json, MESSAGES, sendAs } from "./caller_protocols.ts";

const DRY = { "x-service-dry-run": "true" };
const KEY = newApiKey();
const ONCE = newApiKey();
const BUDGETED = newApiKey();
const POOR = newApiKey();
const config = {
  accounts: [
    {
      id: "demo",
      balance: "25.00",
      keys: [KEY, { key: ONCE, rpm: 1 }, { key: BUDGETED, budget: { amount: "0.000001", per: "day" } }],
    },
    { id: "poor", balance: "0.001", keys: [POOR] },
  ],
  models: [
    textModel("sandbox/chat-1", ["sandbox-openai"]),
    textModel("sandbox/messages-1", ["sandbox-anthropic"]),
    { ...textModel("sandbox/content-1", ["sandbox-google"]), fallbacks: ["sandbox/chat-1"] },
    {
      ...textModel("sandbox/any-1", []),
      serves: [
        { provider: "sandbox-openai", weight: 1 },
        { provider: "sandbox-anthropic", weight: 3 },
      ],
    },
  ],
  limits: { large_body: 4_000 },
};
const gateway = await startTestGateway({ config });
const twoThreads = await startTestGateway({ config, isolates: 2 });
const own = { address: gateway.address, key: KEY };

async function ledgerOf(key = KEY): Promise<Json> {
  const response = await fetch(`${gateway.address}/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
  const { balance, held, reserved } = await response.json();
  return { balance, held, reserved };
}

for (const face of CALLER_PROTOCOLS) {
  Deno.test(`a dry run of a ${face.name} request names provider and price, and has no effect`, async () => {
    const before = [gateway.sandbox.requests.length, await ledgerOf()];
    for (const stream of [false, true]) {
      const { status, json, headers } = await sendAs(face, own, { stream, headers: DRY });
      assertEquals(status, 200, JSON.stringify(json));
      assertEquals(headers.get("content-type"), "application/json");
      assertEquals(headers.get("x-service-cost"), null);
      const { estimate, ...rest } = json;
      assertEquals(rest, {
        dry_run: true,
        model: face.ownModel,
        mode: "text",
        providers: [rest.providers[0]],
        fallbacks: face === CONTENT ? [{ model: "sandbox/chat-1", providers: ["sandbox-openai"] }] : [],
        dropped: [],
        prompt_caching: [{ provider: rest.providers[0], marks: [], cache_key: false }],
        balance_covers: true,
        admitted: true,
        refused_by: null,
      });
      assertEquals(Object.keys(estimate), ["prompt_tokens", "output_tokens", "text_cost", "cost"]);
      assertEquals(estimate.output_tokens, face === MESSAGES ? 2000 : 16_384);
      assert(estimate.prompt_tokens > 0);
      assertEquals(Number(estimate.text_cost), estimate.cost);
    }
    assertEquals([gateway.sandbox.requests.length, await ledgerOf()], before);
  });

  Deno.test(`a dry run of a ${face.name} request reports its mistakes`, async () => {
    for (const question of [{ headers: { "x-service-dry-run": "yes" } }, { headers: DRY, body: {} }]) {
      const answer = await sendAs(face, own, question);
      assertEquals(answer.status, 400);
      assertErrorShape(face, answer);
    }
    assertEquals((await sendAs(face, own, { headers: { ...DRY }, model: "sandbox/nothing" })).status, 404);
    assertEquals(
      (await sendAs(face, own, { headers: { "x-service-dry-run": "false" } })).headers.has("x-service-cost"),
      true,
    );
  });
}

Deno.test("the cost of a request never exceeds the estimate of its dry run", async () => {
  for (const face of CALLER_PROTOCOLS) {
    const dry = await sendAs(face, own, { headers: DRY });
    const paid = await sendAs(face, own);
    assert(Number(paid.headers.get("x-service-cost")) <= dry.json.estimate.cost);
  }
});

Deno.test("a dry run lists providers by weight, and the fields that one of them would not be sent", async () => {
  const { json, headers } = await sendAs(CHAT, own, {
    model: "sandbox/any-1",
    extra: { logit_bias: { 5: 1 } },
    headers: DRY,
  });
  assertEquals(json.providers, ["sandbox-anthropic", "sandbox-openai"]);
  assertEquals([json.dropped, headers.get("x-service-dropped")], [["logit_bias"], "logit_bias"]);
  const pinned = await sendAs(CHAT, own, {
    model: "sandbox/any-1",
    extra: { logit_bias: { 5: 1 } },
    headers: { ...DRY, "x-service-provider-type": "sandbox-openai" },
  });
  assertEquals([pinned.json.providers, pinned.json.dropped], [["sandbox-openai"], []]);
});

for (const [name, { address }] of Object.entries({ "one thread": gateway, "several threads": twoThreads })) {
  Deno.test(`a dry run takes no rate, and reports the limit that would refuse it, in ${name}`, async () => {
    const once = { address, key: ONCE };
    for (let count = 0; count < 3; count++) {
      assertEquals((await sendAs(CHAT, once, { headers: DRY })).json.admitted, true);
    }
    assertEquals((await sendAs(CHAT, once)).status, 200);
    const { status, json } = await sendAs(CHAT, once, { headers: DRY });
    assertEquals([status, json.admitted, json.balance_covers], [200, false, true]);
    const { code, holder, limit, value, retry_after } = json.refused_by;
    assertEquals({ code, holder, limit, value }, { code: "rate_limited", holder: "key", limit: "rpm", value: "1" });
    assert(retry_after > 0);
    assertEquals((await sendAs(CHAT, once)).status, 429);
  });

  Deno.test(`a dry run reports a budget and a balance that do not cover it, in ${name}`, async () => {
    const budgeted = await sendAs(CHAT, { address, key: BUDGETED }, { headers: DRY });
    assertEquals([budgeted.status, budgeted.json.admitted, budgeted.json.balance_covers], [200, false, false]);
    assertEquals(budgeted.json.refused_by.limit, "budget");
    const poor = await sendAs(CHAT, { address, key: POOR }, { headers: DRY, extra: { max_tokens: 5_000 } });
    assertEquals([poor.json.admitted, poor.json.refused_by.code], [false, "insufficient_credits"]);
    assertEquals([poor.json.refused_by.limit, poor.json.estimate.output_tokens], ["balance", 5_000]);
  });

  Deno.test(`a dry run of a large request is priced too, in ${name}`, async () => {
    const { status, json } = await sendAs(CHAT, { address, key: KEY }, { headers: DRY, text: "word ".repeat(2_000) });
    assertEquals([status, json.dry_run, json.admitted], [200, true, true]);
    assert(json.estimate.prompt_tokens >= 2_000);
  });
}

Deno.test("a low balance lowers the output limit of the estimate", async () => {
  const low = await startTestGateway({ balance: "0.02" });
  const { json, headers } = await sendAs(CHAT, low, { headers: DRY });
  const limit = Number(headers.get("x-service-output-limit"));
  assert(limit >= 1_024 && limit < 16_384);
  assertEquals(json.estimate.output_tokens, limit);
  await low.stop();
});

Deno.test.afterAll(async () => {
  await gateway.stop();
  await twoThreads.stop();
});
