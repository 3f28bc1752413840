import { assertEquals } from "@std/assert";
import { summaryOf } from "../../src/config/diff/diff_summary.ts";
import type { ConfigDiff } from "../../src/config/diff/config_diff.ts";

const NOTHING: ConfigDiff = { added: {}, changed: {}, removed: {}, restart: [] };

Deno.test("summaryOf() counts changes, and names prices before and after and settings that need a restart", () => {
  assertEquals(summaryOf(NOTHING), "0 added, 0 changed, 0 removed, 0 need a restart");
  assertEquals(
    summaryOf({
      added: { aliases: ["quick"] },
      removed: { providers: ["old", "older"] },
      changed: {
        models: {
          "acme/one": {
            "pricing.prompt": { before: "0.000001", after: "0.000005" },
            "pricing.audio": { before: null, after: "0.1" },
            "video.price_per_second.default": { before: "0.10", after: null },
            description: { before: "a", after: "b" },
          },
        },
        providers: { first: { api_key: "changed" } },
      },
      restart: ["server.port", "files"],
    }),
    "1 added, 2 changed, 2 removed, 2 need a restart; prices: acme/one pricing.prompt 0.000001 to 0.000005, " +
      "acme/one pricing.audio none to 0.1, acme/one video.price_per_second.default 0.10 to none; " +
      "restart for: server.port, files",
  );
});

Deno.test("summaryOf() names at most twenty prices and settings, and states how many more there are", () => {
  const changed = Object.fromEntries(
    Array.from({ length: 25 }, (_, index) => [`acme/${index}`, { "pricing.prompt": { before: "1", after: "2" } }]),
  );
  const restart = Array.from({ length: 21 }, (_, index) => `server.x${index}`);
  const summary = summaryOf({ ...NOTHING, changed: { models: changed }, restart });
  assertEquals(summary.match(/acme\//g)?.length, 20);
  assertEquals(summary.match(/server\./g)?.length, 20);
  assertEquals([summary.includes(", 5 more; restart for:"), summary.endsWith(", 1 more")], [true, true]);
});
