import { assertEquals, assertThrows } from "@std/assert";
import { readSpan, readTime } from "../../src/entry/cli/times.ts";
import { UsageError } from "../../src/entry/cli/usage_error.ts";
import { makePlace } from "./gateway_folder.ts";

const NOW = Date.parse("2026-11-29T02:30:00Z");

Deno.test("readTime() reads spans, words for days, dates, instants and Unix seconds", () => {
  const read = (text: string) => new Date(readTime("x: --from", text, { now: NOW })).toISOString();
  assertEquals(read("now"), "2026-11-29T02:30:00.000Z");
  assertEquals(read("90s"), "2026-11-29T02:28:30.000Z");
  assertEquals(read("90m"), "2026-11-29T01:00:00.000Z");
  assertEquals(read("12h"), "2026-11-28T14:30:00.000Z");
  assertEquals(read("7d"), "2026-11-22T02:30:00.000Z");
  assertEquals(read("2w"), "2026-11-15T02:30:00.000Z");
  assertEquals(read("today"), "2026-11-29T00:00:00.000Z");
  assertEquals(read("yesterday"), "2026-11-28T00:00:00.000Z");
  assertEquals(read("2026-11-21"), "2026-11-21T00:00:00.000Z");
  assertEquals(read("2026-11-21T09:30Z"), "2026-11-21T09:30:00.000Z");
  assertEquals(read("2026-11-21T09:30:15.250+01:00"), "2026-11-21T08:30:15.250Z");
  assertEquals(read("1795340000"), "2026-11-22T09:33:20.000Z");
  assertEquals(
    new Date(readTime("x", "90d", { direction: "ahead", now: NOW })).toISOString(),
    "2027-02-27T02:30:00.000Z",
  );
  for (const text of ["noon", "", "1y", "-5m", "2026-13-01", "2026-11-21T25:00Z", "2026-11-21T09:30"]) {
    assertThrows(
      () => readTime("tasks list: --from", text),
      UsageError,
      "switchyard tasks list: --from: expected a time: 90m",
    );
  }
});

Deno.test("readSpan() reads seconds and spans with a unit", () => {
  assertEquals(["3600", "90s", "90m", "12h", "7d", "2w"].map((text) => readSpan("x", text)), [
    ...[3_600, 90, 5_400, 43_200, 604_800, 1_209_600],
  ]);
  assertThrows(() => readSpan("keys rotate: --overlap", "soon"), UsageError, "--overlap: expected a span: 90s");
});

Deno.test("each command with times takes all their forms", async () => {
  const place = await makePlace({ admin_key: "" });
  await place.run("accounts", "create", "acme");
  const { said } = await place.run("keys", "create", "acme", "--name", "laptop", "--expires", "90d");
  const { expires_at } = JSON.parse(said);
  const days = (expires_at * 1_000 - Date.now()) / 86_400_000;
  assertEquals(Math.round(days), 90);
  assertEquals((await place.run("keys", "rotate", "acme", "laptop", "--overlap", "2h")).code, 0);
  assertEquals((await place.run("keys", "set", "acme", "laptop", "--expires", "none")).code, 1); // two keys
  for (
    const words of [
      ["usage", "--from", "7d", "--to", "today"],
      ["audit", "list", "--from", "90m"],
      ["tasks", "list", "--from", "2026-11-21", "--to", "now"],
      ["deliveries", "list", "--from", "2w"],
      ["deliveries", "redeliver", "--from", "2d", "--to", "1d"],
    ]
  ) {
    assertEquals((await place.run(...words)).code, 0, words.join(" "));
  }
  await place.remove();
});
