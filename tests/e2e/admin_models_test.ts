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
    { provider: "sandbox-openai", model: "any-1", weight: 3 },
    { provider: "sandbox-google", model: "pro", weight: 0 },
  ]);
  assertEquals([aliases, fallbacks], [["fast"], ["sandbox/chat-1"]]);
  assertEquals((await get("?after=x")).body.error.field, "after");
  assertEquals((await get("?page=1")).status, 400);
  await gateway.stop();
});
