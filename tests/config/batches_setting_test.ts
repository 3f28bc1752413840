import { assertEquals } from "@std/assert";
import { readProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";

Deno.test("providers.NAME.batches: auto is on at the address of a vendor that has batches", () => {
  const cases: readonly (readonly [Record<string, unknown>, boolean])[] = [
    [{ kind: "openai" }, true],
    [{ kind: "openai", base_url: "https://eu.api.openai.com/v1" }, true],
    [{ kind: "openai", base_url: "https://vendor.example/v1" }, false],
    [{ kind: "openai", base_url: "https://api.openai.com.example/v1" }, false],
    [{ kind: "openai", base_url: "https://vendor.example/v1", batches: "on" }, true],
    [{ kind: "openai", batches: "off" }, false],
    [{ kind: "anthropic" }, true],
    [{ kind: "google" }, true],
    [{ kind: "xai" }, false],
    [{ kind: "groq" }, false],
  ];
  for (const [fields, isOn] of cases) {
    const { hasBatches = false } = readProviderConfig({ api_key: "k", ...fields });
    assertEquals(hasBatches, isOn, JSON.stringify(fields));
  }
});
