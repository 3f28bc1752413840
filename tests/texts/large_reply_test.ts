import { assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { accountMoney } from "../support/account_money.ts";

/** A vendor of the chat format whose replies carry that many empty lists. */
function startVendor(lists: number) {
  const choice = '{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}';
  const usage = '{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
  const body = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[${choice}],"usage":${usage},` +
    `"junk":[${"[],".repeat(lists)}0]}`;
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.cancel();
    return new Response(body, { headers: { "content-type": "application/json" } });
  });
}

for (const [lists, status] of [[100_000, 200], [1_100_000, 502]] as const) {
  Deno.test(`a vendor's reply with ${lists} empty lists gives ${status}, and is charged only if it is read`, async () => {
    const vendor = startVendor(lists);
    const base = `http://127.0.0.1:${vendor.addr.port}/v1`;
    const gateway = await startTestGateway({
      config: {
        providers: { stub: { kind: "openai", base_url: base, api_key: "vendor-key" } },
        models: [textModel("stub/chat", ["stub"])],
      },
    });
    const before = await accountMoney(gateway).balance();
    for (const path of ["/v1/chat/completions", "/msgcompat/v1/messages"]) {
      const response = await fetch(`${gateway.address}${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.key}`,
          "content-type": "application/json",
          "msg-version": "2023-06-01",
        },
        body: JSON.stringify({ model: "stub/chat", max_tokens: 9, messages: [{ role: "user", content: "x" }] }),
      });
      await response.body?.cancel();
      assertEquals([path, response.status], [path, status]);
    }
    assertEquals(await accountMoney(gateway).balance() < before, status === 200);
    await gateway.stop();
    await vendor.shutdown();
  });
}
