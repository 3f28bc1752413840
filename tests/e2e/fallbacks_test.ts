import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt, valueAt } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  MESSAGES,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

/** A model with one price for tokens of all kinds. */
function priced(id: string, provider: string, perToken: string, fields: Record<string, unknown> = {}) {
  return { ...textModel(id, [provider]), pricing: { prompt: perToken, completion: perToken }, ...fields };
}

const MODELS = [
  priced("a/first", "sandbox-openai", "0.000001", { fallbacks: ["b/second", "c/third"] }),
  priced("b/second", "sandbox-anthropic", "0.000002"),
  priced("c/third", "sandbox-google", "0.000003"),
  priced("d/both", "sandbox-openai", "0.000001", {
    fallbacks: ["b/second", "e/other"],
    serves: [{ provider: "sandbox-openai" }, { provider: "sandbox-google", weight: 0 }],
  }),
  priced("e/other", "sandbox-google", "0.000004"),
  priced("f/dear", "sandbox-google", "0.01"),
];

function start(balance = "25.00") {
  return startTestGateway({
    balance,
    config: {
      models: MODELS,
      aliases: {
        "safe": { model: "a/first", fallbacks: ["c/third"] },
        "alone": { model: "a/first", fallbacks: [] },
        "s-*": { model: "a/*", fallbacks: ["f/dear", "b/second"] },
      },
    },
  });
}

type Gateway = Awaited<ReturnType<typeof start>>;

/** Runs a test with a new gateway, as failures open circuits. */
async function withGateway(run: (gateway: Gateway) => Promise<void>, balance?: string) {
  const gateway = await start(balance);
  try {
    await run(gateway);
  } finally {
    await gateway.stop();
  }
}

function askedBy(gateway: Gateway, mark: number): string[] {
  return gateway.sandbox.requests.slice(mark).map(({ path }) => itemAt(path.split("/"), 1));
}

for (const face of CALLER_PROTOCOLS) {
  Deno.test(`${face.name}: a model whose providers fail is replaced by its fallbacks in order, at their prices`, async () => {
    await withGateway(async (gateway) => {
      const account = accountMoney(gateway);
      for (const stream of [false, true]) {
        const mark = gateway.sandbox.requests.length;
        const text = "[[openai: fail 503]] [[anthropic: fail 503]] hi there";
        const before = await account.balance();
        const answer = await sendAs(face, gateway, { model: "a/first", text, stream });
        assertEquals([answer.status, answer.headers.get("x-service-model")], [200, "c/third"], answer.text);
        assertEquals(answer.headers.get("x-service-provider"), "sandbox-google");
        assertEquals(askedBy(gateway, mark), ["openai", "anthropic", "google"]);
        const charge = (await account.latestCharge())!;
        assertEquals([charge.model, charge.provider], ["c/third", "sandbox-google"]);
        const usage = charge.usage as Record<string, number>;
        const tokens = BigInt(
          valueAt(usage, "fresh_tokens") + (usage.cache_read_tokens ?? 0) + valueAt(usage, "output_tokens"),
        );
        assertEquals(readMoney(charge.cost), tokens * readMoney("0.000003"));
        assertEquals(before - await account.balance(), readMoney(charge.cost));
        if (face !== CONTENT) assertMatch(answer.text, /"model":\s*"a\/first"/); // the gateway writes the name of the request
      }
    });
  });
}

Deno.test("the caller's own mistakes, and failures after the first byte, use no fallback", async () => {
  await withGateway(async (gateway) => {
    for (const face of [CHAT, RESPONSES] as readonly CallerProtocol[]) {
      const mark = gateway.sandbox.requests.length;
      const refused = await sendAs(face, gateway, { model: "a/first", text: "[[fail 400 Not that]] hi" });
      assertEquals([refused.status, askedBy(gateway, mark)], [400, ["openai"]]);
      const cut = await sendAs(face, gateway, { model: "a/first", text: "[[cut 3]] [[words 30]] go", stream: true });
      assertEquals([cut.status, cut.headers.get("x-service-model")], [200, "a/first"]);
    }
    const mark = gateway.sandbox.requests.length;
    const bad = await sendAs(CHAT, gateway, { model: "a/first", extra: { temperature: "hot" } });
    assertEquals([bad.status, askedBy(gateway, mark)], [400, []]);
  });
});

Deno.test("all providers of a model come before its first fallback, and the most helpful failure is returned", async () => {
  await withGateway(async (gateway) => {
    const mark = gateway.sandbox.requests.length;
    const text = "[[openai: fail 503]] [[google: fail 429 7]] [[anthropic: fail 500]] hi";
    const answer = await sendAs(CHAT, gateway, { model: "d/both", text });
    assertEquals(askedBy(gateway, mark), ["openai", "google", "anthropic", "google"]);
    assertEquals([answer.status, answer.headers.get("retry-after")], [429, "7"]);
  });
});

Deno.test("an alias has its own fallbacks, and an empty list means none", async () => {
  await withGateway(async (gateway) => {
    const text = "[[openai: fail 503]] hi";
    const safe = await sendAs(CHAT, gateway, { model: "safe", text });
    assertEquals([safe.status, safe.headers.get("x-service-model"), safe.json.model], [200, "c/third", "safe"]);
    const alone = await sendAs(CHAT, gateway, { model: "alone", text });
    assertEquals(alone.status, 503);
    const star = await sendAs(MESSAGES, gateway, { model: "s-first", text: `${text} [[google: fail 503]]` });
    assertEquals([star.status, star.headers.get("x-service-model")], [200, "b/second"]);
  });
});

Deno.test("a pin skips the fallbacks that its provider does not serve", async () => {
  await withGateway(async (gateway) => {
    const mark = gateway.sandbox.requests.length;
    const headers = { "x-service-provider-type": "sandbox-google" };
    const text = "[[google: fail 503]] hi";
    const both = await sendAs(CHAT, gateway, { model: "d/both", text, headers });
    assertEquals([both.status, askedBy(gateway, mark)], [502, ["google", "google"]]); // d/both, then e/other
    const elsewhere = await sendAs(CHAT, gateway, { model: "a/first", headers });
    assertEquals([elsewhere.status, elsewhere.json.error.type], [400, "provider_type_unavailable"]);
    const pinned = { extra_body: { provider: { type: "sandbox-openai" } } };
    const only = await sendAs(CHAT, gateway, { model: "a/first", text: "[[fail 503]] hi", extra: pinned });
    assertEquals([only.status, askedBy(gateway, mark).slice(2)], [503, ["openai"]]);
  });
});

Deno.test("a fallback on which a hosted tool has no price is skipped", async () => {
  await withGateway(async (gateway) => {
    const mark = gateway.sandbox.requests.length;
    const extra = { tools: [{ type: "web_search_20250305", name: "web_search" }] };
    const answer = await sendAs(MESSAGES, gateway, { model: "b/second", extra });
    assertEquals([answer.status, askedBy(gateway, mark)], [400, []]); // none of them has a price for searches
    assertStringIncludes(answer.json.error.message, '"b/second"');
  });
});

Deno.test("a request with state at one provider uses no fallback at another", async () => {
  await withGateway(async (gateway) => {
    const stored = await sendAs(RESPONSES, gateway, { model: "a/first", extra: { store: true } });
    const mark = gateway.sandbox.requests.length;
    const extra = { previous_response_id: stored.json.id };
    await sendAs(RESPONSES, gateway, { model: "a/first", text: "[[openai: fail 503]] on", extra });
    assertEquals(askedBy(gateway, mark), ["openai"]);
  });
});

Deno.test("the reservation covers the most expensive fallback that the balance covers, and no more expensive one is called", async () => {
  const extra = { max_tokens: 100 };
  const text = "[[openai: fail 503]] [[anthropic: fail 503]] hi";
  await withGateway(async (gateway) => {
    // f/dear may cost more than a dollar, which the balance does not cover; the others do not.
    const mark = gateway.sandbox.requests.length;
    const poor = await sendAs(CHAT, gateway, { model: "s-first", text, extra });
    assertEquals([poor.status, askedBy(gateway, mark)], [503, ["openai", "anthropic"]]);
  }, "0.50");
  await withGateway(async (gateway) => {
    const account = accountMoney(gateway);
    const rich = await sendAs(CHAT, gateway, { model: "s-first", text, extra });
    assertEquals([rich.status, rich.headers.get("x-service-model")], [200, "f/dear"]);
    assertEquals((await account.latestCharge())?.model, "f/dear");
    assert(await account.balance() > 0n);
  }, "5.00");
});

Deno.test("a fallback gets a limit of output tokens where the reservation does not cover its own", async () => {
  await withGateway(async (gateway) => {
    const text = "[[openai: fail 503]] [[words 3]]";
    const answer = await sendAs(CHAT, gateway, { model: "s-first", text });
    assertEquals([answer.status, answer.headers.get("x-service-model")], [200, "f/dear"]);
    const limit = Number(answer.headers.get("x-service-output-limit"));
    assert(limit >= 1_024 && limit < 16_384, String(limit));
    const whole = await sendAs(CHAT, gateway, { model: "a/first", text: "hi" });
    assertEquals([whole.status, whole.headers.get("x-service-output-limit")], [200, null]);
  }, "25.00");
});

Deno.test("open circuits send requests to the fallback at once", async () => {
  await withGateway(async (gateway) => {
    for (let tries = 0; tries < 5; tries++) {
      await sendAs(CHAT, gateway, { model: "alone", text: `[[openai: fail 500]] ${tries}` });
    }
    const mark = gateway.sandbox.requests.length;
    const answer = await sendAs(CHAT, gateway, { model: "a/first", text: "all well" });
    assertEquals([answer.status, answer.headers.get("x-service-model")], [200, "b/second"]);
    assertEquals(askedBy(gateway, mark), ["anthropic"]);
  });
});

Deno.test("a large request uses its fallback in the worker thread, at the fallback's price", async () => {
  await withGateway(async (gateway) => {
    const text = `[[openai: fail 503]] ${"word ".repeat(40_000)}`;
    const answer = await sendAs(CHAT, gateway, { model: "a/first", text });
    assertEquals([answer.status, answer.headers.get("x-service-model")], [200, "b/second"], answer.text.slice(0, 300));
    assertEquals((await accountMoney(gateway).latestCharge())?.model, "b/second");
  });
});
