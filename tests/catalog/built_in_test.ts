import { assert, assertEquals } from "@std/assert";
import { builtInModels } from "../../src/vendors/catalog/built_in.ts";
import { createCatalog, providerPartOf } from "../../src/vendors/catalog/catalog.ts";
import { pricePerSecondOf } from "../../src/vendors/catalog/sections/media_sections.ts";
import { BUILT_IN_VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { readRate } from "../../src/platform/lib/basics/money.ts";
import { itemAt } from "../support/items.ts";

const everything = builtInModels(new Set(BUILT_IN_VENDORS));
const texts = everything.filter(({ text }) => text);
const videos = everything.filter(({ video }) => video !== null);

Deno.test("the built-in models make a catalog, each served by its own vendor", () => {
  const catalog = createCatalog(everything);
  assertEquals(catalog.forProtocol("message").length, texts.length);
  assertEquals([...catalog.providers].sort(), [...BUILT_IN_VENDORS].sort());
  for (const { id, serves } of everything) assertEquals(serves.map(({ provider }) => provider), [providerPartOf(id)]);
});

Deno.test("every built-in text model has the facts that callers read from a catalog", () => {
  for (const model of texts) {
    assert(model.name && model.description.endsWith(".") && model.created > 1_700_000_000, model.id);
    assert(model.contextLength >= 100_000 && model.supportedParameters.includes("max_tokens"), model.id);
    assert(readRate(model.pricing.prompt!) > 0n && readRate(model.pricing.completion!) > 0n, model.id);
    assertEquals(model.architecture.outputModalities, ["text"]);
  }
});

Deno.test("every built-in image model has a price, and replaces only sizes and qualities of its own", () => {
  const images = everything.filter(({ image }) => image !== null);
  assert(images.length > 0);
  for (const { id, name, description, created, image, architecture, pricing } of images) {
    assert(name && description.endsWith(".") && created > 1_700_000_000, id);
    assert(architecture.outputModalities.includes("image"), id);
    assert(readRate(pricing.per_image ?? pricing.image_output!) > 0n, id);
    assert(Object.values(image!.sizeMap).every((size) => image!.sizes.includes(size)), id);
    assert(Object.values(image!.qualityMap).every((quality) => image!.qualities.includes(quality)), id);
    // A rule of the vendor: only one of these models makes images this small.
    assertEquals(image!.sizes.includes("256x256"), false);
  }
});

Deno.test("every built-in embedding model has a price and the length of its vectors", () => {
  const models = everything.filter(({ embedding }) => embedding !== undefined);
  assert(models.length > 0);
  for (const { id, name, description, created, embedding, architecture, pricing } of models) {
    assert(name && description.endsWith(".") && created > 1_700_000_000, id);
    assertEquals(architecture.outputModalities, ["embeddings"]);
    assert(embedding?.dimensions && readRate(pricing.prompt!) > 0n, id);
  }
});

Deno.test("every built-in video model has a price above zero for every setting", () => {
  assert(videos.length > 0);
  for (const { id, name, description, created, video, architecture } of videos) {
    assert(name && description.endsWith(".") && created > 1_700_000_000, id);
    assertEquals(architecture.outputModalities, ["video"]);
    for (const resolution of video!.resolutions) {
      for (const withAudio of [true, false]) {
        const price = pricePerSecondOf(video!, resolution, withAudio);
        const isMade = video!.audio === "switch" || (video!.audio === "always") === withAudio;
        assert(!isMade || readRate(price!) > 0n, `${id} ${resolution}`);
      }
    }
  }
});

Deno.test("a built-in model with another name at its vendor is served under the vendor's name", () => {
  const seedance = itemAt(videos.filter(({ id }) => id === "fal/seedance-2.0"), 0);
  assertEquals(seedance.serves.map(({ provider, model }) => [provider, model]), [["fal", "bytedance/seedance-2.0"]]);
});

Deno.test("builtInModels() omits models whose provider is not configured", () => {
  assertEquals(builtInModels(new Set()), []);
  assertEquals(
    new Set(builtInModels(new Set(["mistral", "unknown"])).map(({ ownedBy }) => ownedBy)),
    new Set(["mistral"]),
  );
});
