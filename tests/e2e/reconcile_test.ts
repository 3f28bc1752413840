import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { itemAt } from "../support/items.ts";
import { SeededRandom } from "./money_walk/random.ts";
import {
  RECONCILED,
  type ReconciledGateway,
  type ReconciledProvider,
  withReconciledGateway,
} from "./reconciled_gateway.ts";

const SEED = Number(Deno.env.get("SWITCHYARD_TEST_WALK_SEED") ?? "20261128");
const CALLS = 60;
const DAY_MS = 86_400_000;
const ZERO = "0.0000000000";

async function walk({ chat }: ReconciledGateway, random: SeededRandom, calls = CALLS): Promise<void> {
  const long = `${"The same long beginning of a prompt. ".repeat(200)}`;
  for (let call = 0; call < calls; call++) {
    const provider = random.pick(Object.keys(RECONCILED) as ReconciledProvider[]);
    const model = random.pick<string>(RECONCILED[provider]);
    const content = [
      random.chance(0.3) ? long : "",
      random.chance(0.3) ? "[[think: step by step, then answer]]" : "",
      `[[words: ${random.between(1, 300)}]] Question ${random.between(1, 8)}`,
    ].join(" ");
    const isStream = random.chance(0.5);
    await chat(provider, model, content, { stream: isStream });
  }
}

for (const isolates of [1, 2]) {
  Deno.test(`after a random walk, bills and the ledger agree to the last unit: threads: ${isolates}`, async () => {
    await withReconciledGateway({ isolates }, async (gateway) => {
      await walk(gateway, new SeededRandom(SEED));
      for (const provider of ["openai", "anthropic"]) {
        const { total, data, explanations, source } = await gateway.reconcile(provider);
        assertEquals(source, provider);
        assertEquals(explanations, []);
        assert(Number(total.theirs.cost) > 0);
        assertEquals(total.theirs.cost, total.ours.cost);
        assert(data.length >= 2);
        for (const { difference } of data) {
          const requests = provider === "openai" ? 0 : null;
          assertEquals(difference, {
            cost: ZERO,
            requests,
            input_tokens: 0,
            cache_read_tokens: 0,
            cache_write_tokens: 0,
            output_tokens: 0,
          });
        }
      }
    });
  });
}

Deno.test("the activity of OpenRouter is reported for completed days, and agrees to the last unit", async () => {
  const clock = new ManualClock(Date.parse("2026-11-20T12:00:00Z"));
  await withReconciledGateway({ clock }, async (gateway) => {
    for (const words of [5, 90]) await gateway.chat("openrouter", "routed/mini-1", `[[words: ${words}]] Hello`);
    clock.advance(DAY_MS);
    const { days, total, data } = await gateway.reconcile("openrouter", { from: "2026-11-19", to: "2026-11-21" });
    assertEquals(days.map(({ day, state }) => `${day} ${state}`), [
      "2026-11-19 not_recorded",
      "2026-11-20 complete",
      "2026-11-21 not_reported",
    ]);
    assertEquals([days[0]?.difference, days[2]?.difference], [null, null]);
    assertEquals([data.length, total.difference.cost, total.difference.requests], [1, ZERO, 0]);
    assert(Number(total.theirs.cost) > 0);
  });
});

const WRONG = {
  openai: { model: "small-1", price: "completion", wrong: "0.000003" },
  anthropic: { model: "messages-2", price: "prompt", wrong: "0.0000005" },
} as const;

for (const [provider, { model, price, wrong }] of Object.entries(WRONG)) {
  Deno.test(`one wrong price is found with its model and dimension: ${provider}, ${price}`, async () => {
    await withReconciledGateway({ wrong: { [model]: { [price]: wrong } } }, async (gateway) => {
      await walk(gateway, new SeededRandom(SEED));
      const { data, explanations } = await gateway.reconcile(provider);
      const differing = data.filter(({ difference }) => difference.cost !== ZERO);
      assertEquals(new Set(differing.map((row) => row.model)), new Set([model]));
      const { model: named, reasons, ours_from, dimensions, difference } = itemAt(explanations, 0);
      assertEquals([named, ours_from], [model, "request_log"]);
      const [reason] = reasons.filter(({ kind }) => kind === "price");
      assertEquals([reason?.dimension, reason?.amount], [price, difference]);
      assertEquals(reasons.length, 1);
      const side = dimensions.find((each) => each.dimension === price);
      assertEquals(side?.ours.price, wrong);
      assertEquals(side?.ours.quantity, side?.theirs.quantity);
      const [request] = reason?.requests ?? [];
      const operator = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
      const { json } = await operator("GET", `/admin/v1/requests/${request}`);
      assertEquals(json.served_model, `test/${model}`);
    });
  });
}

Deno.test("where a report has only the cost of a model, two days tell the price that is wrong", async () => {
  const clock = new ManualClock(Date.parse("2026-11-18T12:00:00Z"));
  const wrong = { "routed/mini-1": { completion: "0.0000025" } };
  await withReconciledGateway({ clock, wrong }, async (gateway) => {
    for (const words of [5, 90]) {
      await gateway.chat("openrouter", "routed/mini-1", `[[words: ${words}]] ${"Hello ".repeat(200 - words)}`);
      clock.advance(DAY_MS);
    }
    const { explanations } = await gateway.reconcile("openrouter", { from: "2026-11-18", to: "2026-11-19" });
    const reasons = explanations.flatMap((each) => each.reasons.map(({ kind, dimension }) => `${kind} ${dimension}`));
    assertEquals(reasons, ["likely_price completion", "likely_price completion"]);
    assertStringIncludes(
      itemAt(itemAt(explanations, 0).reasons, 0).text,
      "0.000002 for a unit in the place of 0.0000025",
    );
  });
});

Deno.test("calls past the gateway and tokens that the gateway counted are named", async () => {
  await withReconciledGateway({}, async (gateway) => {
    await gateway.chat("openai", "chat-1", "[[nousage]] Hello to all of you");
    const direct = callerOf(gateway.vendors.baseUrls.openai, { authorization: "Bearer sandbox-key" });
    const sent = { model: "reasoner-1", messages: [{ role: "user", content: "Hello" }] };
    assertEquals((await direct("POST", "/chat/completions", sent)).status, 200);
    const { explanations } = await gateway.reconcile("openai");
    const reasonsOf = (model: string) => explanations.find((each) => each.model === model)?.reasons ?? [];
    assertEquals(reasonsOf("reasoner-1").map(({ kind }) => kind), ["not_seen"]);
    const estimated = reasonsOf("chat-1").find(({ kind }) => kind === "estimated");
    assertEquals(estimated?.requests.length, 1);
  });
});

Deno.test("a band that only the vendor has is named with its requests", async () => {
  const banded = {
    prompt: "0.000001",
    completion: "0.000002",
    overrides: [{ min_prompt_tokens: 50, prompt: "0.000004" }],
  };
  const wrong = { "chat-1": { overrides: [] as unknown as string } };
  await withReconciledGateway({ vendor: { "chat-1": banded }, wrong }, async (gateway) => {
    await gateway.chat("openai", "chat-1", "Hello ".repeat(60));
    const { explanations } = await gateway.reconcile("openai");
    const [reason] = itemAt(explanations, 0).reasons;
    assertEquals([reason?.kind, reason?.dimension, reason?.requests.length], ["condition", "prompt", 1]);
    assertStringIncludes(reason?.text ?? "", '"long context"');
  });
});

Deno.test("searches, which the vendor bills for all models together, are named and cancel out", async () => {
  const prices = { prompt: "0.000001", completion: "0.000002", web_search: "0.01" };
  await withReconciledGateway({ vendor: { "messages-1": prices } }, async (gateway) => {
    const caller = callerOf(gateway.address, {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": "2023-06-01",
    });
    const { status, text } = await caller("POST", "/msgcompat/v1/messages", {
      model: "test/messages-1",
      max_tokens: 500,
      messages: [{ role: "user", content: "[[search: cats]] Tell me" }],
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 1 }],
    });
    assertEquals(status, 200, text);
    const { total, data, explanations } = await gateway.reconcile("anthropic");
    assertEquals(total.difference.cost, ZERO);
    assertEquals(data.map(({ model, difference }) => `${model} ${difference.cost}`), [
      "messages-1 -0.0100000000",
      "web_search 0.0100000000",
    ]);
    const kinds = explanations.flatMap(({ reasons }) => reasons.map(({ kind }) => kind));
    assertEquals(kinds, ["not_of_a_model", "not_of_a_model"]);
  });
});
