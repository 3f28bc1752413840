import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../architecture/source_files.ts";
import { withAnswers } from "../support/vendor_stage.ts";
import { loadKind } from "../../src/vendors/upstreams/adapters.ts";
import { listsModels, PROVIDER_KINDS, supportsSecretKey } from "../../src/vendors/upstreams/kinds.ts";

Deno.test("kinds: the table states for each kind whether its adapter lists models", async () => {
  const listing = await Promise.all(PROVIDER_KINDS.map(async (name) => [name, Boolean((await loadKind(name)).models)]));
  assertEquals(PROVIDER_KINDS.map((name) => [name, listsModels(name)]), listing);
});

Deno.test("kinds: Kling and Bedrock take a secret key", () => {
  assertEquals(PROVIDER_KINDS.filter(supportsSecretKey), ["kling", "bedrock"]);
});

/** What the page calls each capability. */
const OTHERS = { embeddings: "embeddings", moderations: "moderations", ranks: "ranks", speech: "audio" } as const;

Deno.test("kinds: docs/providers.md names what each adapter serves", async () => {
  const page = await Deno.readTextFile(join(ROOT, "docs/providers.md"));
  const rows = page.slice(page.indexOf("## Kinds")).split("\n\n")[1]?.split("\n").slice(2) ?? [];
  const shown = rows.map((row) => row.split("|").slice(1, 6).map((cell) => cell.trim()));
  await withAnswers([], async ({ outbound, clock }) => {
    const served = await Promise.all(PROVIDER_KINDS.map(async (name) => {
      const { text, capabilities } = await loadKind(name);
      const made = capabilities({ outbound, clock, settings: { speaks: "chat" } });
      const names = Object.entries(OTHERS).flatMap(([key, word]) => key in made ? [word] : []);
      assertEquals("transcripts" in made, "speech" in made);
      return [
        name,
        text({ speaks: "chat" }).length > 0,
        made.images !== undefined,
        made.videos !== undefined,
        names,
      ];
    }));
    const stated = shown.map(([name = "", text, images, videos, others = ""]) => [
      name.replaceAll("`", ""),
      text !== "",
      images !== "",
      videos !== "",
      others === "" ? [] : others.split(", "),
    ]);
    assertEquals(stated.sort(), served.sort());
  });
});
