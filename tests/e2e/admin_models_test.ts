import { assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";

Deno.test("GET /admin/v1/models lists the catalog page by page, with prices, providers, weights and other names", async () => {
  const ids = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/any-1"];
  const gateway = await startTestGateway({
    config: {
      models: [
        textModel("sandbox/chat-1", ["sandbox-openai"]),
        textModel("sandbox/messages-1", ["sandbox-anthropic"]),
        {
          ...textModel("sandbox/any-1", []),
          serves: [{ provider: "sandbox-openai", weight: 3 }, { provider: "sandbox-google", model: "pro", weight: 0 }],
          fallbacks: ["sandbox/chat-1"],
        },
      ],
      aliases: { fast: "sandbox/any-1", "gpt-*": "sandbox/chat-1" },
    },
  });
  const get = async (query: string) => {
    const headers = { authorization: `Bearer ${gateway.adminKey}` };
    const response = await fetch(`${gateway.address}/admin/v1/models${query}`, { headers });
    return { status: response.status, body: await response.json() };
  };
  const first = (await get("?limit=2")).body;
  const second = (await get(`?limit=2&after=${first.next}`)).body;
  assertEquals([...first.data, ...second.data].map(({ id }: { id: string }) => id), ids);
  assertEquals(second.next, null);
  const { pricing, providers, aliases, fallbacks } = second.data[0];
  assertEquals(pricing.prompt, "0.000001");
  assertEquals(providers, [
    { provider: "sandbox-openai", model: "any-1", weight: 3, answered_by: null, facts: [] },
    { provider: "sandbox-google", model: "pro", weight: 0, answered_by: null, facts: [] },
  ]);
  assertEquals([aliases, fallbacks], [["fast"], ["sandbox/chat-1"]]);
  assertEquals((await get("?after=x")).body.error.field, "after");
  assertEquals((await get("?page=1")).status, 400);
  await gateway.stop();
});

Deno.test("POST /admin/v1/models/price calculates the cost of quantities as a charge does, and charges nothing", async () => {
  const gateway = await startTestGateway({
    config: {
      models: [textModel("sandbox/chat-1", ["sandbox-openai"]), {
        id: "sandbox/video-1",
        serves: [{ provider: "sandbox-openai" }],
        video: {
          modes: ["text2video"],
          price_per_second: { "720p": "0.1", "1080p_audio": "0.4", "1080p_silent": "0.3" },
        },
      }],
    },
  });
  const price = async (body: unknown) => {
    const response = await fetch(`${gateway.address}/admin/v1/models/price`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  const { body } = await price({ model: "sandbox/chat-1", quantities: { prompt: 1_200, completion: 300 } });
  assertEquals(body.charged, [
    { price: "prompt", quantity: 1_200, rate: "0.000001", cost: "0.0012000000" },
    { price: "completion", quantity: 300, rate: "0.000002", cost: "0.0006000000" },
  ]);
  assertEquals([body.cost, body.tier, body.rates.input_cache_read], ["0.0018000000", null, "0.0000001"]);
  const video = { model: "sandbox/video-1", quantities: { video_second: 5 }, resolution: "1080p" };
  assertEquals((await price(video)).body.cost, "1.5000000000");
  assertEquals((await price({ ...video, audio: true })).body.cost, "2.0000000000");
  for (
    const [wrong, field] of [
      [{ ...video, resolution: "9K" }, "resolution"],
      [{ model: "sandbox/chat-1", tier: "flex" }, "tier"],
      [{ model: "sandbox/chat-1", quantities: { prompt: -1 } }, "quantities.prompt"],
      [{ model: "sandbox/chat-1", quantities: { promt: 1 } }, "quantities.promt"],
    ] as const
  ) {
    const { status, body: { error } } = await price(wrong);
    assertEquals([status, error.field], [400, field]);
  }
  assertEquals((await price({ model: "sandbox/none" })).status, 404);
  await gateway.stop();
});
