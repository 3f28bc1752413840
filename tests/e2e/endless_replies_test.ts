import { assert, assertEquals } from "@std/assert";
import { accountMoney, eventually } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { skipReplyChecks } from "../support/reply_checks.ts";
import { startScriptedUpstream, STREAM_HEAD, type VendorConnection } from "../support/scripted_upstream.ts";
import { type CallerProtocol, CONTENT, MESSAGES, RESPONSES } from "./caller_protocols.ts";

const MEGABYTE = 1_048_576;
const IMAGE_REQUEST = { model: "stub/image-1", prompt: "a", quality: "low", size: "1024x1024", stream: true };

/** A gateway with a vendor that answers each request by a script after the head of a stream. */
async function withVendor(
  script: (side: VendorConnection) => Promise<void>,
  test: (gateway: Awaited<ReturnType<typeof startTestGateway>>) => Promise<void>,
): Promise<void> {
  const vendor = startScriptedUpstream(async (side) => {
    if (await side.request() !== null && await side.say(STREAM_HEAD)) await script(side);
  });
  const serves = [{ provider: "stub" }];
  const gateway = await startTestGateway({
    balance: "1000.00",
    config: {
      providers: { stub: { kind: "openai", base_url: vendor.baseUrl, api_key: "stub-key", speaks: "chat" } },
      models: [
        textModel("stub/chat-1", ["stub"]),
        {
          id: "stub/image-1",
          image: { series: "default" },
          pricing: { prompt: "0.000005", image_output: "0.001" },
          architecture: { input_modalities: ["text"], output_modalities: ["image"] },
          serves,
        },
      ],
      limits: { memory: "64MB" },
    },
  });
  skipReplyChecks(gateway.address);
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
}

/** Chunks of a stream of chat completions: text, reasoning, and sources, of which callers see no more than the text. */
const DELTAS: Readonly<Record<string, unknown>> = {
  text: { content: "x".repeat(60_000) },
  reasoning: { reasoning_content: "x".repeat(60_000) },
  sources: {
    content: "x",
    annotations: new Array(500).fill({ type: "url_citation", url_citation: { url: `https://a/${"x".repeat(90)}` } }),
  },
};

for (const face of [RESPONSES, MESSAGES, CONTENT] satisfies CallerProtocol[]) {
  for (const [name, delta] of Object.entries(DELTAS)) {
    Deno.test(`an endless stream of ${name} takes the memory of its account and no more: ${face.name}`, async () => {
      const chunk = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta }] };
      const event = `data: ${JSON.stringify(chunk)}\n\n`;
      let sentBytes = 0;
      await withVendor(async (side) => {
        while (sentBytes < 64 * MEGABYTE && await side.say(event)) sentBytes += event.length;
      }, async (gateway) => {
        const response = await fetch(gateway.address + face.path("stub/chat-1", true), {
          method: "POST",
          headers: face.headers(gateway.key),
          body: JSON.stringify(face.body("stub/chat-1", "a", true)),
        });
        assertEquals(response.status, 200);
        let [end, isRefused] = ["", false];
        const decoder = new TextDecoder();
        for await (const bytes of response.body ?? []) {
          const text = end + decoder.decode(bytes);
          isRefused ||= text.includes("Not enough memory for the reply");
          end = text.slice(-100);
        }
        assert(isRefused, `it ends with ${end}`);
        assert(sentBytes < 16 * MEGABYTE, `${sentBytes} bytes were read`);
        assert(await accountMoney(gateway).balance() < 1_000n * 10n ** 10n, "it was not charged");
        await eventually(() => gateway.app.memory.inUse === 0);
      });
    });
  }
}

Deno.test("a stream with more finished images than a whole reply may have is ended", async () => {
  const data = JSON.stringify({ type: "image_generation.completed", b64_json: "A".repeat(30 * MEGABYTE) });
  const event = new TextEncoder().encode(`data: ${data}\n\n`);
  let sent = 0;
  await withVendor(async (side) => {
    while (sent < 12 && await side.say(event)) sent++;
  }, async (gateway) => {
    const response = await fetch(`${gateway.address}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify(IMAGE_REQUEST),
    });
    assertEquals(response.status, 502, await response.text());
    assert(sent < 8, `${sent} images were read`);
  });
});

Deno.test("partial images that nobody ordered are not charged to a caller who leaves", async () => {
  const data = JSON.stringify({ type: "image_generation.partial_image", partial_image_index: 0, b64_json: "AAAA" });
  const left = Promise.withResolvers<void>();
  await withVendor(async (side) => {
    await side.say(`data: ${data}\n\n`);
    await left.promise;
    await side.say(`data: ${data}\n\n`.repeat(20_000));
  }, async (gateway) => {
    const response = await fetch(`${gateway.address}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...IMAGE_REQUEST, partial_images: 2 }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    left.resolve();
    await eventually(() => gateway.logLines.some((line) => line.includes('"cost"')));
    // Two of 100 tokens at a tenth of a cent each, and the prompt.
    const charged = 1_000n * 10n ** 10n - await accountMoney(gateway).balance();
    assert(charged > 0n && charged < 21n * 10n ** 8n * 10n, `${charged} were charged`);
  });
});
