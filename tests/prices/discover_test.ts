import { assertEquals, assertStringIncludes } from "@std/assert";
import { readConfig } from "../../src/config/config.ts";
import type { ConfigError } from "../../src/config/tree/config_error.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { ownList, pricingOf, startPricedGateway, startPriceServer } from "./support.ts";

/** A vendor of OpenAI's format with a list of models. */
function startListingVendor(models: readonly Record<string, unknown>[]) {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (new URL(request.url).pathname.endsWith("/models")) return Response.json({ object: "list", data: models });
    return Response.json({
      id: "one",
      object: "chat.completion",
      created: 1,
      model: "gpt-6-new",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    });
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}/v1`, stop: () => server.shutdown() };
}

for (const isolates of [1, 2]) {
  Deno.test(`with ${isolates} threads: listed models with a price of the source are served, and no others`, async () => {
    const vendor = startListingVendor([
      { id: "gpt-6-new", shutdown_date: "2031-01-14" },
      { id: "gpt-6-unpriced" },
      { id: "gpt-5-new" },
      { id: "gpt-6-sol", shutdown_date: "2032-02-03" },
    ]);
    const prices = { prompt: "0.000003", completion: "0.000004" };
    const server = startPriceServer(ownList({ "openai/gpt-6-new": prices, "openai/gpt-5-new": prices }));
    const gateway = await startPricedGateway(server, {
      isolates,
      isBuiltIn: false,
      config: {
        providers: {
          openai: { kind: "openai", base_url: vendor.baseUrl, api_key: "k", discover: { allow: ["gpt-6*"] } },
        },
        models: undefined,
      },
    });
    const answer = (model: string) =>
      fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
      });
    try {
      await eventually(async () => (await pricingOf(gateway, "openai/gpt-6-new"))?.prompt === "0.000003");
      const catalog = await (await fetch(`${gateway.address}/v1/models/openai%2Fgpt-6-new`)).json();
      assertEquals((catalog.data ?? catalog).expiration_date, "2031-01-14");
      const known = await (await fetch(`${gateway.address}/v1/models/openai%2Fgpt-6-sol`)).json();
      assertEquals((known.data ?? known).expiration_date, "2032-02-03");
      for (let count = 0; count < 8; count++) {
        const response = await answer("openai/gpt-6-new");
        assertEquals([response.status, (await response.json()).choices[0].message.content], [200, "Hi"]);
      }
      const charge = await eventually(() => accountMoney(gateway).latestCharge());
      assertEquals(charge.cost, "0.0000380000");
      for (const model of ["openai/gpt-6-unpriced", "openai/gpt-5-new"]) {
        const response = await answer(model);
        assertEquals([response.status, (await response.json()).error.code], [404, "model_not_found"]);
      }
    } finally {
      await gateway.stop();
      await server.stop();
      await vendor.stop();
    }
  });
}

Deno.test("the configuration refuses discovery without a list, and a source without encryption", () => {
  const problemsOf = (tree: Record<string, unknown>) => {
    try {
      readConfig(JSON.stringify(tree), "test.json", () => undefined);
      return "";
    } catch (error) {
      return (error as ConfigError).problems.join("\n");
    }
  };
  const kling = { kind: "kling", api_key: "k", discover: { allow: ["*"] } };
  assertStringIncludes(
    problemsOf({ providers: { kling } }),
    "providers.kling.discover: expected a provider with a list",
  );
  const open = { source: "http://prices.example/list.json" };
  assertStringIncludes(problemsOf({ prices: open }), "prices.source: expected an https address; http only with");
  assertStringIncludes(problemsOf({ prices: { source: "ftp://x/y" } }), "prices.source: expected built_in, an address");
  assertStringIncludes(problemsOf({ prices: { every: "6 weeks" } }), "prices.every: expected a duration");
  const allowed = {
    prices: { source: "http://10.1.2.3/list.json", every: "6h", keep: "30d" },
    egress: { allow: ["10.0.0.0/8"] },
  };
  assertEquals(problemsOf(allowed), "");
});
