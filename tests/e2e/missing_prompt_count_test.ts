import { assert, assertEquals } from "@std/assert";
import { accountMoney } from "../support/account_money.ts";
import { startTestGateway } from "../support/gateway.ts";

/** Reports of a vendor that counts the output and not the prompt. */
const REPORTS = {
  "without a prompt count": { candidatesTokenCount: 300, thoughtsTokenCount: 200, totalTokenCount: 500 },
  "with an empty prompt": {
    promptTokenCount: 0,
    candidatesTokenCount: 300,
    thoughtsTokenCount: 200,
    totalTokenCount: 500,
  },
};
const grounding = { webSearchQueries: ["fox"], groundingChunks: [{ web: { uri: "https://a.example" } }] };

for (const [title, usageMetadata] of Object.entries(REPORTS)) {
  for (const stream of [false, true]) {
    for (const format of ["chat", "content"] as const) {
      Deno.test(`a reply ${title} is charged its counted output: ${stream ? "stream" : "whole"}, ${format}`, async () => {
        const reply = (text: string, more: Record<string, unknown>) => ({
          candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
          usageMetadata,
        });
        const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
          const last = { finishReason: "STOP", groundingMetadata: grounding };
          if (!stream) return Response.json(reply("The fox.", last));
          const chunks = [reply("The ", {}), reply("fox.", last)];
          return new Response(chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(""), {
            headers: { "content-type": "text/event-stream" },
          });
        });
        const gateway = await startTestGateway({
          isolates: 1,
          config: {
            providers: { google: { kind: "google", base_url: `http://127.0.0.1:${vendor.addr.port}` } },
            models: [{
              id: "google/m",
              pricing: { prompt: "0", completion: "0.000001", web_search: "0.01" },
              serves: [{ provider: "google" }],
            }],
          },
        });
        try {
          const path = format === "chat"
            ? "/v1/chat/completions"
            : `/gencompat/v1beta/models/google/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
          const body = format === "chat"
            ? { model: "google/m", stream, messages: [{ role: "user", content: "hi" }] }
            : { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
          const response = await fetch(`${gateway.address}${path}`, {
            method: "POST",
            headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
            body: JSON.stringify(body),
          });
          const text = await response.text();
          assert(response.ok && text.includes("fox"), text);
          const charge = await accountMoney(gateway).latestCharge();
          assertEquals(charge?.cost, "0.0105000000", "500 tokens of output and one search");
        } finally {
          await gateway.stop();
          await vendor.shutdown();
        }
      });
    }
  }
}
