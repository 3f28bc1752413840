import { assert, assertEquals } from "@std/assert";
import { builtInFields } from "../../src/vendors/catalog/built_in.ts";
import { BUILT_IN_VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { readMoney, writeMoney } from "../../src/platform/lib/basics/money.ts";
import { accountMoney } from "../support/account_money.ts";
import { startTestGateway } from "../support/gateway.ts";

/**
 * A request at a built-in price that changed, and what its vendor bills for it. Prices are USD for a million tokens as
 * published: see tests/catalog/vendor_prices.json.
 */
interface Bill {
  readonly model: string;
  /** When the request begins. */
  readonly at: string;
  readonly input: string;
  readonly cached: string;
  readonly output: string;
  /** Tokens written to a cache; default: none is counted. */
  readonly write?: string;
  readonly tier?: string;
  /** The name under which the vendor is asked. Default: the id without its first part. */
  readonly sentAs?: string;
  /** USD that the vendor bills. */
  readonly bill: string;
}

/** Each request has a prompt of 10,000 tokens, 4,000 of them from a cache, and a reply of 2,000. */
const USAGE = { prompt: 10_000, cached: 4_000, output: 2_000, write: 1_000 };

/** In the order of their moments. */
const BILLS: readonly Bill[] = [
  bill("google/gemini-3.5-flash", "2026-10-07T23:59:59.999Z", ["1.5", "0.15", "9"], "0.0276000000"),
  bill("google/gemini-3.5-flash", "2026-10-08T00:00:00.000Z", ["0.75", "0.075", "3.75"], "0.0123000000", {
    sentAs: "gemini-3.6-flash",
  }),
  bill("google/gemini-3.7-flash", "2026-11-28T00:00:00.000Z", ["0.75", "0.075", "3.75"], "0.0123000000", {
    sentAs: "gemini-3.8-flash",
  }),
  bill("minimax/MiniMax-M3", "2026-11-28T00:00:00.000Z", ["0.3", "0.06", "1.2"], "0.0044400000"),
  // Outside of the vendor's peak hours.
  bill("deepseek/deepseek-v4-pro", "2026-11-28T00:00:00.000Z", ["0.66", "0.022", "1.98"], "0.0080080000"),
  bill("deepseek/deepseek-flash", "2026-11-28T00:00:00.000Z", ["0.15", "0.003", "0.6"], "0.0021120000"),
  bill("mistral/mistral-large-2512", "2026-11-28T00:00:00.000Z", ["0.5", "0.05", "1.5"], "0.0062000000"),
  bill("moonshotai/kimi-k3", "2026-11-28T00:00:00.000Z", ["3", "0.3", "15"], "0.0492000000", { write: "3" }),
  bill("google/gemini-4-argon", "2026-11-30T23:59:59.999Z", ["2", "0.1", "10"], "0.0324000000"),
  bill("google/gemini-4-carbon", "2026-11-30T23:59:59.999Z", ["2", "0.1", "10"], "0.0324000000"),
  bill("google/gemini-2.5-pro", "2026-11-30T23:59:59.999Z", ["1.25", "0.125", "10"], "0.0280000000"),
  bill("google/gemini-2.5-flash", "2026-11-30T23:59:59.999Z", ["0.3", "0.03", "2.5"], "0.0069200000"),
  bill("google/gemini-4-argon", "2026-12-01T00:00:00.000Z", ["4", "0.2", "20"], "0.0648000000"),
  bill("google/gemini-4-carbon", "2026-12-01T00:00:00.000Z", ["4", "0.2", "20"], "0.0648000000"),
  bill("google/gemini-2.5-pro", "2026-12-01T00:00:00.000Z", ["0.75", "0.075", "3.75"], "0.0123000000", {
    sentAs: "gemini-3.8-flash",
  }),
  bill("google/gemini-2.5-flash", "2026-12-01T00:00:00.000Z", ["0.3", "0.03", "2.5"], "0.0069200000", {
    sentAs: "gemini-3.5-flash-lite",
  }),
  bill("google/gemini-3.8-flash", "2026-12-31T23:59:59.999Z", ["0.75", "0.075", "3.75"], "0.0123000000"),
  bill("google/gemini-3.8-flash", "2027-01-01T00:00:00.000Z", ["1.5", "0.15", "7.5"], "0.0246000000"),
  bill("google/gemini-2.5-pro", "2027-01-01T00:00:00.000Z", ["1.5", "0.15", "7.5"], "0.0246000000", {
    sentAs: "gemini-3.8-flash",
  }),
  bill("openai/gpt-6-sol", "2027-02-01T00:00:00.000Z", ["1", "0.1", "5"], "0.0164000000", { tier: "flex" }),
  bill("openai/gpt-5.5", "2027-02-01T00:00:00.000Z", ["12.5", "1.25", "75"], "0.2300000000", { tier: "fast" }),
  bill("openai/gpt-6.2-sol", "2027-02-28T23:59:59.999Z", ["6", "0.3", "30"], "0.0972000000", { tier: "ultrafast" }),
  bill("openai/gpt-6.2-sol", "2027-03-01T00:00:00.000Z", ["12", "0.6", "60"], "0.1944000000", { tier: "ultrafast" }),
];

function bill(
  model: string,
  at: string,
  [input, cached, output]: readonly [input: string, cached: string, output: string],
  billed: string,
  more: Pick<Bill, "write" | "tier" | "sentAs"> = {},
): Bill {
  return { model, at, input, cached, output, bill: billed, ...more };
}

/** The vendor's published computation: each part of the prompt once, at its own price. */
function published({ input, cached, output, write }: Bill): string {
  const written = write === undefined ? 0 : USAGE.write;
  const plain = USAGE.prompt - USAGE.cached - written;
  const parts = [[plain, input], [USAGE.cached, cached], [written, write ?? "0"], [USAGE.output, output]] as const;
  const total = parts.reduce((sum, [tokens, price]) => sum + BigInt(tokens) * readMoney(price), 0n);
  return writeMoney(total / 1_000_000n);
}

Deno.test("the charge of a request at each changed price equals the vendor's bill", async () => {
  let at = Date.parse("2026-10-01T00:00:00Z");
  let next: Bill | null = null;
  let sent: { readonly model?: string } = {};
  const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    sent = await request.json();
    const { prompt, cached, output, write } = USAGE;
    return Response.json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: sent.model,
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      ...next?.tier !== undefined && { service_tier: next.tier },
      usage: {
        prompt_tokens: prompt,
        completion_tokens: output,
        total_tokens: prompt + output,
        prompt_tokens_details: {
          cached_tokens: cached,
          ...next?.write !== undefined && { cache_write_tokens: write },
        },
      },
    });
  });
  const base_url = `http://127.0.0.1:${vendor.addr.port}/v1`;
  const gateway = await startTestGateway({
    clock: { ...systemClock, now: () => at },
    isolates: 1,
    config: {
      // All built-in models, each at the provider with its vendor's name.
      models: undefined,
      providers: Object.fromEntries(
        BUILT_IN_VENDORS.map((provider) => [
          provider,
          { kind: "openai", base_url, api_key: "key-of-vendor", speaks: "chat" },
        ]),
      ),
    },
  });
  try {
    const money = accountMoney(gateway);
    for (const each of BILLS) {
      next = each;
      at = Date.parse(each.at);
      assertEquals(published(each), each.bill, `${each.model} at ${each.at}`);
      const response = await fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: each.model,
          messages: [{ role: "user", content: "fox ".repeat(10_000) }],
          max_completion_tokens: USAGE.output,
          ...each.tier !== undefined && { service_tier: each.tier },
        }),
      });
      assertEquals(response.status, 200, await response.text());
      const charge = await money.latestCharge();
      assertEquals([charge?.model, charge?.cost], [each.model, each.bill], each.at);
      assertEquals(sent.model, each.sentAs ?? each.model.slice(each.model.indexOf("/") + 1));
    }
  } finally {
    await gateway.stop();
    await vendor.shutdown();
  }
});

const SPEECH = [
  ["google/gemini-3.8-flash-tts", "2026-12-31T23:59:59.999Z", "0.5", "9"],
  ["google/gemini-3.8-flash-lite-tts", "2026-12-31T23:59:59.999Z", "0.5", "6"],
  ["google/gemini-3.8-flash-tts", "2027-01-01T00:00:00.000Z", "1", "18"],
  ["google/gemini-3.8-flash-lite-tts", "2027-01-01T00:00:00.000Z", "1", "12"],
] as const;

Deno.test("the charge of speech at each changed price equals the vendor's bill", async () => {
  let at = Date.parse(SPEECH[0][1]);
  const voices = ["gemini-3.8-flash-tts", "gemini-3.8-flash-lite-tts"];
  const gateway = await startTestGateway({
    clock: { ...systemClock, now: () => at },
    isolates: 1,
    config: {
      models: voices.map((name) => ({
        ...builtInFields("google", name),
        id: `google/${name}`,
        serves: [{ provider: "sandbox-google", model: "sandbox/voice-1" }],
      })),
    },
  });
  try {
    for (const [model, moment, input, audio] of SPEECH) {
      at = Date.parse(moment);
      const response = await fetch(`${gateway.address}/v1/audio/speech`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, input: "a red fox", voice: "Kore" }),
      });
      assertEquals(response.status, 200);
      await response.body?.cancel();
      // The sandbox counts three tokens of text, and 25 of audio for each of 0.6 seconds.
      const total = (3n * readMoney(input) + 15n * readMoney(audio)) / 1_000_000n;
      assert(total > 0n);
      assertEquals(response.headers.get("x-service-cost"), writeMoney(total), `${model} at ${moment}`);
    }
  } finally {
    await gateway.stop();
  }
});
