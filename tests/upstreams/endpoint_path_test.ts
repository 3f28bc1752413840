import { assertEquals } from "@std/assert";
import { endpointPathIn } from "../../src/vendors/upstreams/settings/endpoint_path.ts";
import { vendorBaseUrl } from "../../src/vendors/upstreams/configured_vendors.ts";
import { PROVIDER_KINDS } from "../../src/vendors/upstreams/kinds.ts";

Deno.test("endpointPathIn() finds the path of a copied endpoint URL", () => {
  for (
    const [kind, address, baseUrl, endpoint] of [
      ["openai", "https://a.example/v1/chat/completions", "https://a.example/v1", "/chat/completions"],
      ["openai", "https://a.example/v1/responses", "https://a.example/v1", "/responses"],
      ["openai", "https://a.example/v1/models", "https://a.example/v1", "/models"],
      ["openai", "http://10.0.0.1:8000/chat/completions", "http://10.0.0.1:8000", "/chat/completions"],
      [
        "openai",
        "https://a.example/v1beta/openai/chat/completions",
        "https://a.example/v1beta/openai",
        "/chat/completions",
      ],
      ["ark", "https://a.example/api/v3/images/generations", "https://a.example/api/v3", "/images/…"],
      ["anthropic", "https://a.example/v1/messages", "https://a.example", "/v1/messages"],
      [
        "anthropic",
        "https://a.example/anthropic/v1/messages/count_tokens",
        "https://a.example/anthropic",
        "/v1/messages",
      ],
      ["anthropic", "https://api.anthropic.com/v1", "https://api.anthropic.com", "/v1"],
      ["google", "https://a.example/v1beta/models/g-1:generateContent", "https://a.example", "/v1beta/models"],
      ["google", "https://a.example/v1beta/models", "https://a.example", "/v1beta/models"],
      [
        "google",
        "https://generativelanguage.googleapis.com/v1beta",
        "https://generativelanguage.googleapis.com",
        "/v1beta",
      ],
    ] as const
  ) {
    assertEquals([address, endpointPathIn(kind, address)], [address, { endpoint, baseUrl }]);
  }
});

Deno.test("endpointPathIn() returns null for base URLs that may be valid", () => {
  for (const kind of PROVIDER_KINDS) assertEquals(endpointPathIn(kind, vendorBaseUrl(kind)), null, kind);
  for (
    const [kind, address] of [
      ["openai", "https://unit.services.ai.azure.com/models"],
      ["openai", "https://serving.example/models/llama"],
      ["openai", "https://chat.example"],
      ["openai", "https://a.example/chat"],
      ["anthropic", "https://gateway.example/v1"],
      ["anthropic", "https://messages.example"],
      ["google", "http://127.0.0.1:8080/v1beta"],
    ] as const
  ) {
    assertEquals([address, endpointPathIn(kind, address)], [address, null]);
  }
});
