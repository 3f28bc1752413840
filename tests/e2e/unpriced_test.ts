import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { eventually } from "../support/account_money.ts";
import { startTestGateway } from "../support/gateway.ts";

for (const isolates of [1, 2]) {
  Deno.test(`reported usage without a price is counted, logged once and on the overview: ${isolates} threads`, async () => {
    const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () =>
      Response.json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
        service_tier: "express",
        usage: {
          prompt_tokens: 100,
          completion_tokens: 10,
          total_tokens: 110,
          server_tool_use: { web_search_requests: 2 },
        },
      }));
    const provider = { kind: "openai", base_url: `http://127.0.0.1:${vendor.addr.port}/v1`, speaks: "chat" };
    const gateway = await startTestGateway({
      isolates,
      config: {
        providers: { own: provider },
        models: [
          { id: "own/part", pricing: { prompt: "0.000001" }, serves: [{ provider: "own" }] },
          { id: "own/free", pricing: "free", serves: [{ provider: "own" }] },
        ],
      },
    });
    const read = async (path: string) =>
      await (await fetch(`${gateway.address}${path}`, { headers: { authorization: `Bearer ${gateway.adminKey}` } }))
        .text();
    try {
      for (const model of ["own/part", "own/free", "own/part"]) {
        const response = await fetch(`${gateway.address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
          body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], max_tokens: 20 }),
        });
        assertEquals(response.status, 200, await response.text());
      }
      await eventually(async () =>
        (await read("/metrics")).includes('switchyard_unpriced_usage_total{model="own/part",dimension="completion"} 2')
      );
      const metrics = await read("/metrics");
      for (const dimension of ["web_search", "service_tier"]) {
        assertStringIncludes(metrics, `switchyard_unpriced_usage_total{model="own/part",dimension="${dimension}"} 2`);
      }
      assert(!metrics.includes('switchyard_unpriced_usage_total{model="own/free"'), "a free model has every price");
      const logged = gateway.logLines.filter((line) => line.includes("usage_unpriced"));
      assertEquals(logged.length, 3, logged.join("\n"));
      const { now } = JSON.parse(await read("/admin/v1/traffic"));
      assertEquals(
        now.unpriced.map(({ dimension, count }: { dimension: string; count: number }) => [dimension, count]).sort(),
        [["completion", 2], ["service_tier", 2], ["web_search", 2]],
      );
    } finally {
      await gateway.stop();
      await vendor.shutdown();
    }
  });
}

Deno.test("PUT of a model without a price is refused, naming it; the configuration before stays", async () => {
  const gateway = await startTestGateway({ isolates: 1, isLive: true });
  const put = (id: string, body: Record<string, unknown>) =>
    fetch(`${gateway.address}/admin/v1/config/models/${id}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  try {
    const own = { kind: "openai", base_url: "http://127.0.0.1:1/v1" };
    const added = await fetch(`${gateway.address}/admin/v1/config/providers/own`, {
      method: "PUT",
      headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(own),
    });
    assert(added.ok, await added.text());
    const refused = await put("own/forgotten", { serves: [{ provider: "own" }] });
    assertEquals(refused.status, 400);
    const text = await refused.text();
    assertStringIncludes(text, "own/forgotten");
    assertStringIncludes(text, "pricing");
    for (
      const body of [
        { serves: [{ provider: "own" }], pricing: "free" },
        { serves: [{ provider: "own" }], pricing: { prompt: "0.000001" } },
        { serves: [{ provider: "sandbox-openai", model: "sandbox/chat-1" }] },
      ]
    ) {
      const accepted = await put("own/said", body);
      assert(accepted.ok, await accepted.text());
    }
    const models = await (await fetch(`${gateway.address}/v1/models`)).text();
    assert(models.includes("own/said") && !models.includes("own/forgotten"));
  } finally {
    await gateway.stop();
  }
});
