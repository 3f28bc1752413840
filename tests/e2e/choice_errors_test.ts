import { assert, assertEquals } from "@std/assert";
import { accountMoney } from "../support/account_money.ts";
import { PRICING, startTestGateway } from "../support/gateway.ts";

const chunk = (choice: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  `data: ${
    JSON.stringify({
      id: "gen-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, finish_reason: null, ...choice }],
      ...more,
    })
  }\n\n`;

/** An error after text, as OpenRouter sends it: in the choice, in place of a reason to stop. */
const FAILURE = { code: 502, message: "The upstream provider disconnected" };
const STREAMS = {
  "in the choice": chunk({ delta: { content: "" }, finish_reason: "error", error: FAILURE }),
  "beside the choice, too": chunk({ delta: { content: "" }, finish_reason: "error" }, { error: FAILURE }),
};
const USAGE = { prompt_tokens: 1_000, completion_tokens: 40, total_tokens: 1_040 };

for (const [place, failure] of Object.entries(STREAMS)) {
  for (const hasUsage of [true, false]) {
    for (const [format, path] of [["chat", "/v1/chat/completions"], ["messages", "/msgcompat/v1/messages"]] as const) {
      const title = `${place}, ${hasUsage ? "with" : "without"} usage, for a ${format} caller`;
      Deno.test(`an error after text is a cut stream with what was made charged: ${title}`, async () => {
        const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
          const text = chunk({ delta: { role: "assistant", content: "The fox jumps over the lazy dog." } });
          const usage = hasUsage ? chunk({ delta: {} }, { usage: USAGE, choices: [] }) : "";
          return new Response(`${text}${failure}${usage}data: [DONE]\n\n`, {
            headers: { "content-type": "text/event-stream" },
          });
        });
        const gateway = await startTestGateway({
          isolates: 1,
          config: {
            request_log: { enabled: true },
            providers: {
              router: { kind: "openai", base_url: `http://127.0.0.1:${vendor.addr.port}/v1`, speaks: "chat" },
            },
            models: [{ id: "router/m", pricing: PRICING, context_length: 10_000, serves: [{ provider: "router" }] }],
          },
        });
        try {
          const response = await fetch(`${gateway.address}${path}`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${gateway.key}`,
              "content-type": "application/json",
              "msg-version": "2023-06-01",
            },
            body: JSON.stringify({
              model: "router/m",
              max_tokens: 100,
              stream: true,
              messages: [{ role: "user", content: "hi" }],
            }),
          });
          const text = await response.text();
          assert(text.includes("lazy dog") && text.includes("error"), text);
          const id = response.headers.get("x-service-request-id");
          const charge = await accountMoney(gateway).latestCharge();
          assert(charge !== null && Number(charge.cost) > 0, "what was made is charged");
          if (hasUsage && format === "chat") assertEquals(charge.cost, "0.0010800000");
          const logged = await fetch(`${gateway.address}/admin/v1/requests/${id}`, {
            headers: { authorization: `Bearer ${gateway.adminKey}` },
          });
          assertEquals((await logged.json()).end, "cut");
        } finally {
          await gateway.stop();
          await vendor.shutdown();
        }
      });
    }
  }
}
