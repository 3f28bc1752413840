import { assertEquals } from "@std/assert";
import { sessionOf } from "../../src/services/texts/request/session_of.ts";

const UUID = "57a121ec-f78c-48c3-a745-e3036a3ecc33";
const of = (headers: Record<string, string>, body: Record<string, unknown> = {}) =>
  sessionOf(new Headers(headers), body);

Deno.test("the session of a request is that of the client's header field, before what its body says", () => {
  const body = { metadata: { session_id: "other" }, user: "shop" };
  assertEquals(of({ "X-Claude-Code-Session-Id": UUID }, body), UUID);
  assertEquals(of({ "session-id": "codex-1" }, body), "codex-1");
  assertEquals(of({ "session_id": "codex-0" }, body), "codex-0");
  assertEquals(of({ "x-session-id": "mine" }, body), "mine");
  assertEquals(of({}, body), "other");
});

Deno.test("the session of a request of Claude Code is in both forms of its user", () => {
  assertEquals(of({}, { metadata: { user_id: `user_abc123_account__session_${UUID}` } }), UUID);
  const user = { device_id: "abc", account_uuid: "", session_id: UUID };
  assertEquals(of({}, { metadata: { user_id: JSON.stringify(user) } }), UUID);
});

Deno.test("the user of a request is its session if nothing else is", () => {
  assertEquals(of({}, { user: "customer-7" }), "customer-7");
  assertEquals(of({}, { metadata: { user_id: "customer-7" }, user: "customer-8" }), "customer-8");
  assertEquals(of({}, { metadata: { user_id: "customer-7" } }), null);
});

Deno.test("what is not one word is no session", () => {
  for (const value of ["", "two words", "x".repeat(129), "a\nb", 7, null, ["a"], { a: 1 }, "\u0000"]) {
    assertEquals(of({}, { metadata: { session_id: value }, user: value }), null);
  }
  for (const metadata of [null, "text", ["a"], { user_id: "{not json" }, { user_id: "{}" }]) {
    assertEquals(of({}, { metadata }), null);
  }
});
