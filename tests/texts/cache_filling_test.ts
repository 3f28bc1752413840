import { assertEquals, assertMatch } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { inSandbox } from "../sandbox/support.ts";
import { itemAt } from "../support/items.ts";
import { requestOf } from "./support.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";

const MODEL = { pricing: {}, top_provider: { max_completion_tokens: 8000 } };
const MARKED = [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }];
const TEXT = JSON.stringify({ model: "acme/m", max_tokens: 0, messages: [{ role: "user", content: MARKED }] });

async function sentTo(vendor: CallerFormatName) {
  const { service, sent } = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] }, model: MODEL });
  const response = await service.handle(requestOf("messages", { text: TEXT }));
  await response.text();
  return { body: itemAt(sent, 0).body, dropped: response.headers.get("x-service-dropped") };
}

Deno.test("a request of messages that only fills a cache passes as it is", async () => {
  const { body, dropped } = await sentTo("messages");
  assertEquals([body.max_tokens, dropped], [0, null]);
});

Deno.test("a vendor of another format generates the least that it can in place of nothing, which is named", async () => {
  for (
    const [vendor, field, least] of [["chat", "max_completion_tokens", 1], [
      "responses",
      "max_output_tokens",
      16,
    ]] as const
  ) {
    const { body, dropped } = await sentTo(vendor);
    assertEquals(body[field], least);
    assertMatch(dropped ?? "", /\bmax_tokens\b/);
  }
});

Deno.test("the simulated Anthropic generates nothing for a request that only fills a cache", () =>
  inSandbox(async ({ sandbox }) => {
    const response = await fetch(`${sandbox.baseUrls.anthropic}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: "claude-opus-4-8", max_tokens: 0, messages: [{ role: "user", content: MARKED }] }),
    });
    const { content, stop_reason: stop, usage } = await response.json();
    assertEquals([response.status, content, stop, usage.output_tokens], [200, [], "max_tokens", 0]);
  }));
