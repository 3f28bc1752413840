import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { createRedactor } from "../../src/platform/lib/text/redact.ts";
import { createHttpClient } from "../../src/platform/net/http1/client.ts";
import { originOf } from "../../src/platform/net/http1/wire_request.ts";
import {
  byFixedHeaders,
  type HeaderFields,
  type RequestToAuthorize,
} from "../../src/vendors/upstreams/call/authorization.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { createOutbound } from "../../src/vendors/upstreams/call/outbound.ts";
import { ByteParts } from "../../src/platform/lib/bytes/byte_parts.ts";
import { ManualClock } from "../support/manual_clock.ts";

Deno.test("byFixedHeaders() builds the fields of a credential once", () => {
  const authorize = byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }));
  const request = { method: "POST", path: "/", host: "vendor.example", parts: () => [], now: 0 };
  const credentials = { apiKey: "k" };
  assertEquals(authorize(request, credentials), { authorization: "Bearer k" });
  assertStrictEquals(authorize(request, credentials), authorize(request, credentials));
});

/** Sends two requests to a server and returns the signatures that it received. */
async function signaturesOf(authorize: (request: RequestToAuthorize) => HeaderFields | Promise<HeaderFields>) {
  const came: (string | null)[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    came.push(request.headers.get("x-signature"));
    return Response.json({});
  });
  const clock = new ManualClock(0);
  const client = createHttpClient({ clock });
  const baseUrl = new URL(`http://127.0.0.1:${server.addr.port}/base`);
  const outbound = createOutbound({
    provider: "acme",
    baseUrl,
    origin: originOf(baseUrl),
    headers: {},
    authorize,
    idleMs: 1_000,
    firstByteMs: 1_000,
    client,
    clock,
    redact: createRedactor([]),
  });
  try {
    for (const body of [bytesOf("one"), new ByteParts([bytesOf("tw"), bytesOf("o")])]) {
      const response = await outbound.send({
        method: "POST",
        path: "/sign",
        headers: {},
        body,
        firstByteMs: 1_000,
        callerSignal: null,
        readError: () => ({ message: "", code: null, field: null, retryAfterSeconds: null }),
      });
      await response.readAll(100);
    }
    return came;
  } finally {
    client.close();
    await server.shutdown();
  }
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

const signed = ({ method, path, parts }: RequestToAuthorize) => ({
  "x-signature": `${method} ${path} ${parts().map((part) => new TextDecoder().decode(part)).join("")}`,
});

Deno.test("an outbound request contains a signature over its method, path and body", async () => {
  assertEquals(await signaturesOf(signed), ["POST /base/sign one", "POST /base/sign two"]);
});

Deno.test("an outbound request waits for an asynchronous signature or token", async () => {
  const later = async (request: RequestToAuthorize) => {
    await Promise.resolve();
    return signed(request);
  };
  assertEquals(await signaturesOf(later), ["POST /base/sign one", "POST /base/sign two"]);
});

Deno.test("an outbound request fails with the failure of its authorization", async () => {
  const failing = () =>
    Promise.reject(new UpstreamFailure("acme", "auth", "no token", { status: null, accepted: "no" }));
  await assertRejects(() => signaturesOf(failing), UpstreamFailure, "no token");
});
