import { assertEquals, assertThrows } from "@std/assert";
import { readExpiry, readNewExpiry } from "../../src/services/caches/lifetime.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";

const NOW = Date.parse("2026-03-01T12:00:00.000Z");

function at(seconds: number): string {
  return new Date(NOW + seconds * 1000).toISOString();
}

Deno.test("readNewExpiry() is ten minutes from now by default", () => {
  assertEquals(readNewExpiry({}, NOW), NOW + 600_000);
  assertEquals(readNewExpiry({ ttl: null, expireTime: null }, NOW), NOW + 600_000);
});

Deno.test("readExpiry() accepts whole seconds from ten minutes to an hour, and nothing else as ttl", () => {
  assertEquals(readExpiry({}, NOW), null);
  assertEquals(readExpiry({ ttl: "600s" }, NOW), NOW + 600_000);
  assertEquals(readExpiry({ ttl: "3600s" }, NOW), NOW + 3_600_000);
  const wrong = ["599s", "3601s", "600", "10m", "-600s", "600.5s", "", "s", " 600s", "600S", "1e3s", 600, {}, true];
  for (const ttl of wrong) {
    const error = assertThrows(() => readExpiry({ ttl }, NOW), GatewayError);
    assertEquals([error.code, error.details.field], ["invalid_request", "ttl"], String(ttl));
  }
});

Deno.test("readExpiry() accepts an instant with a zone, ten minutes to an hour from now, in either spelling", () => {
  assertEquals(readExpiry({ expireTime: at(900) }, NOW), NOW + 900_000);
  assertEquals(readExpiry({ expire_time: "2026-03-01T13:30:00.123456789+01:00" }, NOW), NOW + 1_800_123);
  assertEquals(readExpiry({ expireTime: "2026-03-01T12:30:00z" }, NOW), NOW + 1_800_000);
  assertEquals(readExpiry({ expireTime: at(3_600) }, NOW), NOW + 3_600_000);
  assertEquals(
    readExpiry({ expireTime: at(599.5) }, NOW),
    NOW + 599_500,
    "what a request takes on its way is forgiven",
  );
});

Deno.test("readExpiry() rejects an expireTime in the past, without a zone, malformed, or out of bounds", () => {
  const wrong = [at(-1), at(0), at(598), at(3_601), "tomorrow", "2026-03-01T12:30:00", "2026-03-01", "", NOW + 900_000];
  for (const expireTime of wrong) {
    const error = assertThrows(() => readExpiry({ expireTime }, NOW), GatewayError);
    assertEquals([error.code, error.details.field], ["invalid_request", "expireTime"], String(expireTime));
  }
  assertEquals(assertThrows(() => readExpiry({ expire_time: "x" }, NOW), GatewayError).details.field, "expire_time");
});

Deno.test("readExpiry() rejects ttl and expireTime together", () => {
  const error = assertThrows(() => readExpiry({ ttl: "600s", expire_time: at(600) }, NOW), GatewayError);
  assertEquals(error.code, "invalid_request");
});
