import { assertEquals } from "@std/assert";
import { messagesEndpoint } from "../../src/vendors/upstreams/anthropic/text.ts";

const kindOf = (message: string) =>
  messagesEndpoint.readError?.(
    { type: "error", error: { type: "invalid_request_error", message } },
    () => null,
  ).kind;

Deno.test("an Anthropic account without a balance is the gateway's trouble, so another provider is tried", () => {
  const words = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.";
  assertEquals(kindOf(words), "unavailable");
  assertEquals(kindOf(`messages.0.content: "${words}" is not allowed`), undefined);
  assertEquals(kindOf("max_tokens: Field required"), undefined);
});
