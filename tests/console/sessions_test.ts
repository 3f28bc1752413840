import { assertEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import { ConsoleSessions } from "../../src/console/sessions.ts";
import { readSessionCookie, writeSessionCookie } from "../../src/console/session_cookie.ts";
import { ManualClock } from "../support/manual_clock.ts";

Deno.test("ConsoleSessions: a further session of a key ends its own oldest one, and none of another key", () => {
  const sessions = new ConsoleSessions(new ManualClock());
  const other = sessions.start({ key: "other", isOperator: true }).token;
  const tokens = Array.from({ length: 21 }, () => sessions.start({ key: "one", isOperator: false }).token);
  assertEquals(tokens.map((token) => sessions.find(token) !== null), [false, ...Array(20).fill(true)]);
  assertEquals(sessions.find(other)?.key, "other");
});

Deno.test("ConsoleSessions: sessions are limited in number, and those that have ended make place", () => {
  const clock = new ManualClock();
  const sessions = new ConsoleSessions(clock);
  for (let count = 0; count < 10_000; count++) sessions.start({ key: String(count), isOperator: false });
  assertThrows(() => sessions.start({ key: "last", isOperator: false }), GatewayError, "too many sessions");
  clock.advance(30 * 60_000);
  sessions.start({ key: "last", isOperator: false });
});

Deno.test("session cookie: it is read among others, by either name", () => {
  const token = "a".repeat(43);
  for (const isSecure of [true, false]) {
    const [pair = ""] = writeSessionCookie(token, isSecure).split(";");
    assertEquals(readSessionCookie(`theme=dark; ${pair}; x=y`), token);
  }
  assertEquals(readSessionCookie(null), null);
  assertEquals(readSessionCookie("switchyard_console=short"), null);
  assertEquals(readSessionCookie(`switchyard_console=${"b".repeat(43)}; __Secure-switchyard_console=${token}`), token);
});
