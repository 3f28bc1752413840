import { assertEquals } from "@std/assert";
import { problemsOf } from "./support.ts";

Deno.test("a base_url that ends in an endpoint's path is refused, with the corrected value", () => {
  const of = (kind: string, address: string) =>
    problemsOf(`providers: { one: { kind: ${kind}, api_key: k, base_url: "${address}" } }`);
  assertEquals(of("openai", "https://a.example/v1/chat/completions"), [
    'switchyard.yaml: providers.one.base_url: expected "https://a.example/v1", the address without ' +
    '"/chat/completions" at its end, which the gateway adds, got "https://a.example/v1/chat/completions"',
  ]);
  assertEquals(of("anthropic", "https://a.example/v1/messages/"), [
    'switchyard.yaml: providers.one.base_url: expected "https://a.example", the address without "/v1/messages" at ' +
    'its end, which the gateway adds, got "https://a.example/v1/messages"',
  ]);
  assertEquals(of("openai", "https://a.example/v1"), []);
});

Deno.test("an address from the environment is not shown, nor is the corrected value", () => {
  const text = 'providers: { one: { kind: openai, api_key: k, base_url: "${ADDRESS}" } }';
  assertEquals(problemsOf(text, { ADDRESS: "https://a.example/v1/responses" }), [
    'switchyard.yaml: providers.one.base_url: expected the address without "/responses" at its end, which the gateway ' +
    "adds, got text of 30 characters",
  ]);
});
