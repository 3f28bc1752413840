import { assertEquals, assertMatch } from "@std/assert";
import { messageModelRoutes } from "../../src/protocols/message/models.ts";
import { defaultModelRoutes } from "../../src/protocols/default/models.ts";
import { contentModelRoutes } from "../../src/protocols/content/models.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { EventLoopTurns } from "../support/event_loop_turns.ts";
import { get, modelOf, sampleCatalog, withPlainErrors } from "./support.ts";

const CATALOGS = {
  "/v1/models": withPlainErrors(defaultModelRoutes(sampleCatalog())),
  "/msgcompat/v1/models": withPlainErrors(
    messageModelRoutes(sampleCatalog(), () => ({ passes: false, searches: false })),
  ),
  "/gencompat/v1beta/models": withPlainErrors(contentModelRoutes(sampleCatalog())),
  "/gencompat/v1/models": withPlainErrors(contentModelRoutes(sampleCatalog())),
};

for (const [path, routes] of Object.entries(CATALOGS)) {
  Deno.test(`GET ${path} answers without a credential and with a wrong one`, async () => {
    for (const header of ["accept", "authorization", "x-api-key", "x-content-api-key", "x-goog-api-key"]) {
      const response = await get(routes, path, { [header]: "wrong" });
      assertEquals(response.status, 200);
      assertEquals(response.headers.get("content-type"), "application/json");
      assertEquals(response.headers.get("cache-control"), "public, max-age=60");
      assertEquals(response.headers.get("x-service-request-id"), "req_test");
      await response.body?.cancel();
    }
  });

  for (const below of ["", "/lumen", "/lumen/talk-2"]) {
    Deno.test(`GET ${path}${below} answers 304 to a matching If-None-Match`, async () => {
      const first = await get(routes, path + below);
      const etag = first.headers.get("etag") ?? "";
      assertMatch(etag, /^"[^"]+"$/); // strong
      assertEquals((await first.text()).length > 2, true);
      for (const match of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get(routes, path + below, { "if-none-match": match });
        assertEquals([again.status, await again.text(), again.headers.get("etag")], [304, "", etag], match);
      }
      const changed = await get(routes, path + below, { "if-none-match": '"other"' });
      assertEquals(changed.status, 200);
      await changed.body?.cancel();
    });
  }

  Deno.test(`GET ${path} finds one model by path, escaped id, canonical slug and bare name`, async () => {
    const answers = [];
    for (
      const below of [
        "lumen/talk-2",
        "lumen%2Ftalk-2",
        "lumen%2ftalk-2",
        "lumen/talk-2-2026-05",
        "talk-2",
        "lumen/talk%2D2",
      ]
    ) {
      const response = await get(routes, `${path}/${below}`);
      assertEquals(response.status, 200, below);
      answers.push(await response.text());
    }
    assertEquals(new Set(answers).size, 1);
  });

  Deno.test(`GET ${path} answers 404 in the protocol's error format for an unknown model`, async () => {
    const misses = {
      "nobody": "not_found",
      "nobody/talk-2": "model_not_found",
      "lumen/nothing": "model_not_found",
      "lumen%2Fnothing": "model_not_found",
      "lumen%2Ftalk-2%2Fmore": "model_not_found",
      "reel-1": "not_found",
      "constructor": "not_found",
      "__proto__": "not_found",
    };
    for (const [below, code] of Object.entries(misses)) {
      const response = await get(routes, `${path}/${below}`);
      assertEquals([response.status, (await response.json()).code], [404, code], below);
    }
  });

  Deno.test(`GET ${path} lists a provider whose models it cannot reach as empty`, async () => {
    const response = await get(routes, `${path}/film`);
    assertEquals(response.status, 200);
    const { data, models } = await response.json();
    assertEquals((data ?? models).length, path === "/v1/models" ? 1 : 0);
  });
}

Deno.test("a model that a protocol cannot reach is unknown in its catalog", async () => {
  for (
    const [path, status] of [["/v1/models", 200], ["/msgcompat/v1/models", 404], ["/gencompat/v1/models", 404]] as const
  ) {
    const response = await get(CATALOGS[path], `${path}/lumen/paint-1`);
    assertEquals(response.status, status);
    await response.body?.cancel();
  }
});

Deno.test("a text of the caller is quoted in a message as one short line", async () => {
  const response = await get(CATALOGS["/v1/models"], `/v1/models/${"x".repeat(3000)}%C3%A9`);
  assertEquals((await response.json()).message.length < 200, true);
});

Deno.test("others work while a list of thousands of models is written", async () => {
  const models = Array.from({ length: 3_000 }, (_, nth) => modelOf({ id: `many/talk-${nth}` }));
  const routes = withPlainErrors(defaultModelRoutes(createCatalog(models)));
  using turns = new EventLoopTurns();
  const response = await get(routes, "/v1/models");
  assertEquals((await response.json()).data.length, models.length);
  turns.assertAbout(29, "the list");
});
