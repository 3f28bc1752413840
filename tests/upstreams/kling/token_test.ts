import { assert, assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Authorize, Credentials } from "../../../src/vendors/upstreams/call/authorization.ts";
import { byKeyOrToken } from "../../../src/vendors/upstreams/kling/token.ts";
import { atLeast } from "../../support/items.ts";

const NOW = 1_800_000_000_000;
const PAIR = { apiKey: "the-access-key", secretKey: "the-secret-key" };

function fieldsAt(authorize: Authorize, now: number, credentials: Credentials = PAIR) {
  const fields = authorize({ method: "GET", path: "/", host: "vendor.example", parts: () => [], now }, credentials);
  return fields as { readonly authorization: string };
}

function partsOf({ authorization }: { readonly authorization: string }) {
  const [header, claims, signature] = atLeast(authorization.slice("Bearer ".length).split("."), 3);
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  return { header: read(header), claims: read(claims), signed: `${header}.${claims}`, signature };
}

Deno.test("byKeyOrToken() sends a single key unchanged", () => {
  const authorize = byKeyOrToken();
  const credentials = { apiKey: "a-key" };
  const fields = fieldsAt(authorize, NOW, credentials);
  assertEquals(fields, { authorization: "Bearer a-key" });
  assertStrictEquals(fieldsAt(authorize, NOW + 1e9, credentials), fields);
});

Deno.test("byKeyOrToken() signs a token for the access key, valid from a minute ago", async () => {
  const { header, claims, signed, signature } = partsOf(fieldsAt(byKeyOrToken(), NOW));
  assertEquals(header, { alg: "HS256", typ: "JWT" });
  assertEquals(claims, { iss: "the-access-key", nbf: NOW / 1_000 - 60, exp: NOW / 1_000 + 1_740 });
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", Buffer.from(PAIR.secretKey), algorithm, false, ["verify"]);
  assert(await crypto.subtle.verify("HMAC", key, Buffer.from(signature, "base64url"), Buffer.from(signed)));
});

Deno.test("byKeyOrToken() keeps a token for half of its lifetime, and renews it if the clock was set back", () => {
  const authorize = byKeyOrToken();
  const first = fieldsAt(authorize, NOW);
  assertStrictEquals(fieldsAt(authorize, NOW + 899_999), first);
  const second = fieldsAt(authorize, NOW + 900_000);
  assertNotEquals(second, first);
  const afterwards = fieldsAt(authorize, NOW - 3_600_000);
  assertEquals(partsOf(afterwards).claims.nbf, (NOW - 3_600_000) / 1_000 - 60);
});

Deno.test("byKeyOrToken() creates a token for each pair of keys", () => {
  const authorize = byKeyOrToken();
  fieldsAt(authorize, NOW);
  assertEquals(partsOf(fieldsAt(authorize, NOW, { apiKey: "b", secretKey: "s" })).claims.iss, "b");
});
