import { assertEquals, assertRejects } from "@std/assert";
import * as z from "zod";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { openaiImages } from "../../src/vendors/upstreams/openai/images.ts";
import type { OutboundBody } from "../../src/vendors/upstreams/call/outbound_body.ts";
import type { OutboundCall } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { itemAt } from "../support/items.ts";
import { CALL, orderOf, VENDOR_KEY, withVendor } from "./vendor.ts";

const Answer = z.object({ id: z.string() });

Deno.test("outbound.json() sends JSON and reads the response, including unknown fields", async () => {
  await withVendor("openai", [{ body: { id: "a", more: 1 } }], async ({ outbound }, seen) => {
    assertEquals(await outbound.json("POST", "/jobs?x=1", { text: "ä" }, Answer.parse), { id: "a" });
    assertEquals([seen[0]?.method, seen[0]?.path, seen[0]?.json], ["POST", "/base/jobs?x=1", { text: "ä" }]);
    assertEquals(seen[0]?.headers.get("content-type"), "application/json");
  });
});

Deno.test("outbound.json() sends no body for null, and reads an empty response as null", async () => {
  await withVendor("openai", [{ body: "" }], async ({ outbound }, seen) => {
    assertEquals(await outbound.json("GET", "/jobs/1", null, (answer) => answer), null);
    assertEquals([seen[0]?.method, seen[0]?.bytes.length], ["GET", 0]);
  });
});

for (
  const [what, body, extras] of [
    ["is no JSON", "<html>", {}],
    ["has another shape", { id: 7 }, {}],
    ["is longer than it may be", { id: "a".repeat(100) }, { capBytes: 50 }],
  ] as const
) {
  Deno.test(`outbound.json() fails as broken with an unknown acceptance for a response that ${what}`, async () => {
    await withVendor("openai", [{ body }], async ({ outbound }) => {
      const failure = await assertRejects(() => outbound.json("GET", "/", null, Answer.parse, extras), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.accepted], ["broken", "unknown"]);
    });
  });
}

Deno.test("outbound.json() rethrows a failure that the vendor reports in its response", async () => {
  await withVendor("openai", [{ body: {} }], async ({ outbound }) => {
    const reported = outbound.failure("invalid", "No");
    const read = () => {
      throw reported;
    };
    assertEquals(await assertRejects(() => outbound.json("GET", "/", null, read)), reported);
  });
});

Deno.test("outbound.json() uses the adapter's reading of an error body", async () => {
  const vendorError = { message: "Empty", code: "Overdue", field: null, retryAfterSeconds: null };
  await withVendor("openai", [{ status: 403, body: {} }], async ({ outbound }) => {
    const readError = () => ({ ...vendorError, kind: "unavailable" as const, costUsd: "0.02" });
    const { kind, facts } = await assertRejects(
      () => outbound.json("GET", "/", null, Answer.parse, { readError }),
      UpstreamFailure,
    );
    assertEquals([kind, facts.status, facts.costUsd], ["unavailable", 403, "0.02"]);
  });
});

Deno.test("outbound.failure() redacts the vendor's message, and has a default message", async () => {
  await withVendor("openai", [{ body: {} }], ({ outbound }) => {
    const failure = outbound.failure("invalid", `Bad ${VENDOR_KEY}`, { vendorCode: `x ${VENDOR_KEY}`, field: "size" });
    assertEquals([failure.message, failure.facts.vendorCode], ["Bad [redacted]", "x [redacted]"]);
    assertEquals([failure.provider, failure.facts.accepted, failure.facts.field], ["vendor", "no", "size"]);
    assertEquals(outbound.failure("unavailable", "").message, 'Provider "vendor" failed to process the request');
    return Promise.resolve();
  });
});

Deno.test("outbound sends a streamed body with its own type and length", async () => {
  const body: OutboundBody = {
    contentType: "text/x; a=b",
    lengthBytes: 3,
    open: () => ReadableStream.from([new Uint8Array([1, 2]), new Uint8Array([3])]),
  };
  await withVendor("openai", [{ body: { id: "a" } }], async ({ outbound }, seen) => {
    await outbound.json("POST", "/", body, Answer.parse);
    const { headers, bytes } = itemAt(seen, 0);
    assertEquals([headers.get("content-type"), headers.get("content-length")], ["text/x; a=b", "3"]);
    assertEquals([...bytes], [1, 2, 3]);
  });
});

Deno.test("outbound does not blame the provider for an unreadable request body", async () => {
  const body: OutboundBody = {
    contentType: "text/x",
    lengthBytes: 3,
    open: () => ReadableStream.from([new Uint8Array([1])]),
  };
  await withVendor("openai", [{ body: {} }], async ({ outbound }) => {
    const failure = await assertRejects(() => outbound.json("POST", "/", body, Answer.parse), UpstreamFailure);
    assertEquals([failure.kind, failure.isProvidersFault], ["cancelled", false]);
  });
});

Deno.test("outbound rejects a content type with a line break", async () => {
  const body: OutboundBody = { contentType: "a\r\nb: c", lengthBytes: 0, open: () => ReadableStream.from([]) };
  await withVendor("openai", [{ body: {} }], async ({ outbound }, seen) => {
    await assertRejects(() => outbound.json("POST", "/", body, Answer.parse), GatewayError);
    assertEquals(seen.length, 0);
  });
});

Deno.test("OpenAI images: the silence limit of a stream is the limit of a whole response", async () => {
  await withVendor("openai", [{ body: { data: [{ b64_json: "AAAA" }] } }], async ({ outbound }) => {
    const calls: OutboundCall[] = [];
    const send = (call: OutboundCall) => {
      calls.push(call);
      return outbound.send(call);
    };
    await Array.fromAsync(
      openaiImages({ ...outbound, send }, (endpoint) => endpoint).stream!(orderOf(), CALL, "generate"),
    );
    assertEquals([calls[0]?.idleMs, calls[0]?.firstByteMs], [600_000, 600_000]);
    assertEquals(itemAt(calls, 0).callerSignal, CALL.callerSignal);
  });
});
