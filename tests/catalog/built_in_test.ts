import { assert, assertEquals } from "@std/assert";
import { builtInModels } from "../../src/catalog/built_in.ts";
import { createCatalog, providerPartOf } from "../../src/catalog/catalog.ts";
import { VENDORS } from "../../src/config/environment.ts";
import { readRate } from "../../src/lib/money.ts";

const everything = builtInModels(new Set(VENDORS.map(({ provider }) => provider)));

Deno.test("the built-in models make a catalog of text models, each served by its own vendor", () => {
  const catalog = createCatalog(everything);
  assertEquals(catalog.forProtocol("message").length, everything.length);
  assertEquals([...catalog.providers].sort(), VENDORS.map(({ provider }) => provider).sort());
  for (const { id, serves } of everything) assertEquals(serves.map(({ provider }) => provider), [providerPartOf(id)]);
});

Deno.test("every built-in model says what callers ask a catalog for", () => {
  for (const model of everything) {
    assert(model.name && model.description.endsWith(".") && model.created > 1_700_000_000, model.id);
    assert(model.contextLength >= 100_000 && model.supportedParameters.includes("max_tokens"), model.id);
    assert(readRate(model.pricing.prompt!) > 0n && readRate(model.pricing.completion!) > 0n, model.id);
    assertEquals(model.architecture.outputModalities, ["text"]);
  }
});

Deno.test("builtInModels() leaves out models whose provider is not there", () => {
  assertEquals(builtInModels(new Set()), []);
  assertEquals(
    new Set(builtInModels(new Set(["mistral", "unknown"])).map(({ ownedBy }) => ownedBy)),
    new Set(["mistral"]),
  );
});
