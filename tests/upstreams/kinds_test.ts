import { assertEquals } from "@std/assert";
import { listsModels, loadKind, PROVIDER_KINDS, supportsSecretKey } from "../../src/upstreams/kinds.ts";

Deno.test("kinds: the table states for each kind whether its adapter lists models", async () => {
  const listing = await Promise.all(PROVIDER_KINDS.map(async (name) => [name, Boolean((await loadKind(name)).models)]));
  assertEquals(PROVIDER_KINDS.map((name) => [name, listsModels(name)]), listing);
});

Deno.test("kinds: Kling and Bedrock take a secret key", () => {
  assertEquals(PROVIDER_KINDS.filter(supportsSecretKey), ["kling", "bedrock"]);
});
