import { assertEquals, assertThrows } from "@std/assert";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { modelOf, sampleCatalog } from "./support.ts";

Deno.test("find() accepts an id, a canonical slug and a bare name that only one model has", () => {
  const catalog = sampleCatalog();
  assertEquals(catalog.find("lumen/talk-2")?.id, "lumen/talk-2");
  assertEquals(catalog.find("lumen/talk-2-2026-05")?.id, "lumen/talk-2");
  assertEquals(catalog.find("talk-2")?.id, "lumen/talk-2");
  assertEquals(catalog.find("talk-2-2026-05")?.id, "lumen/talk-2");
  assertEquals(catalog.find("reel-1"), null); // two vendors have it
  for (const name of ["", "/", "lumen", "lumen/", "Lumen/talk-2", "constructor", "__proto__"]) {
    assertEquals(catalog.find(name), null, name);
  }
});

Deno.test("forProtocol() lists the models that each protocol can reach, in the operator's order", () => {
  const catalog = sampleCatalog();
  const idsFor = (protocol: "default" | "message" | "content") => catalog.forProtocol(protocol).map(({ id }) => id);
  assertEquals(idsFor("default"), catalog.models.map(({ id }) => id));
  assertEquals(idsFor("message"), ["lumen/talk-2", "other/talk-9"]);
  assertEquals(idsFor("content"), ["lumen/talk-2", "lumen/both-1", "other/talk-9"]);
});

Deno.test("createCatalog() adds the providers of its ids and changes nothing else", () => {
  const models = [modelOf({ id: "a/one" })];
  const catalog = createCatalog(models);
  models.push(modelOf({ id: "b/two" }));
  assertEquals([...catalog.providers], ["a"]);
  assertEquals(catalog.models.length, 1);
  assertThrows(() => (catalog.models as unknown[]).push(1), TypeError);
});

Deno.test("createCatalog() rejects two models with one name", () => {
  assertThrows(() => createCatalog([modelOf({ id: "a/one" }), modelOf({ id: "a/one" })]), RangeError, '"a/one" twice');
  const alias = modelOf({ id: "a/two", canonical_slug: "a/one" });
  assertThrows(() => createCatalog([modelOf({ id: "a/one" }), alias]), RangeError);
});
