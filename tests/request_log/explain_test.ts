import { assertEquals } from "@std/assert";
import { explain } from "../../src/observers/request_log/printed/explain.ts";
import type { PrintedRequest } from "../../src/observers/request_log/printed/request_line.ts";

/** A request that one provider failed with a message. */
function failedWith(message: string | null): PrintedRequest {
  const error = { code: "upstream_error", message };
  return {
    id: "req_1",
    position: 1,
    account: "acme",
    key: "key_1",
    received_at: 1_795_349_563.25,
    first_byte_ms: 3,
    duration_ms: 4,
    method: "POST",
    path: "/v1/chat/completions",
    kind: "text",
    model: null,
    served_model: null,
    provider: null,
    status: 502,
    error,
    refusal: { holder: "key", limit: "rpm", value: "1", resets_at: 1_795_349_600 },
    reserved: null,
    end: null,
    routes: [],
    attempts: [
      { provider: "acme", model: "m", duration_ms: 2, status: 500, vendor_request_id: "v1", ...error },
    ],
    dropped: [],
    usage: null,
    images: 0,
    cost: null,
    charged: [],
    client_address: "192.0.2.7",
  };
}

Deno.test("explain ends messages with one mark", () => {
  const ends: readonly [string | null, string][] = [
    ["Sorry about that!", "Sorry about that! "],
    ["Try again.", "Try again. "],
    ["busy", "busy. "],
    ["What now?", "What now? "],
    ['expected "yes."', 'expected "yes." '],
    [null, "no message. "],
  ];
  for (const [message, written] of ends) {
    const lines = explain(failedWith(message));
    const attempt = lines.find((line) => line.startsWith("Attempt 1"));
    assertEquals(attempt?.split("upstream_error: ").at(-1), `${written}The vendor's request id is v1.`);
    assertEquals(lines.find((line) => line.startsWith("The error was"))?.split(": ").at(-1), written.trim());
  }
});

Deno.test("explain writes each instant in the reader's way, and in UTC by default", () => {
  const written = explain(failedWith("busy"), (seconds) => `<${seconds}>`).join(" ");
  assertEquals(written.match(/<[\d.]+>/g), ["<1795349563.25>", "<1795349600>"]);
  assertEquals(/\d{4}-\d\d-\d\dT/.test(written), false);
  assertEquals(explain(failedWith("busy")).join(" ").match(/\d{4}-\S+Z/g), [
    "2026-11-22T12:12:43.250Z",
    "2026-11-22T12:13:20.000Z",
  ]);
});
