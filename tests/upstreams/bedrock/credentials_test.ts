import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { SignatureV4 } from "@smithy/signature-v4";
import { createHash, createHmac } from "node:crypto";
import type {
  Credentials,
  HeaderFields,
  RequestToAuthorize,
} from "../../../src/vendors/upstreams/call/authorization.ts";
import { adoptsClock, byKeyOrSignature } from "../../../src/vendors/upstreams/bedrock/credentials.ts";
import { payloadHash } from "../../../src/vendors/upstreams/bedrock/payload_hash.ts";

const NOW = Date.parse("2026-11-26T17:20:05.678Z");
const HOST = "bedrock-runtime.us-east-1.amazonaws.com";
const KEYS = { apiKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };

/** The hash that the vendor's own signer takes. */
class Sha256 {
  readonly #hash;
  constructor(key?: Uint8Array | string) {
    this.#hash = key === undefined ? createHash("sha256") : createHmac("sha256", key);
  }
  update(data: Uint8Array | string) {
    this.#hash.update(data);
  }
  digest() {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }
}

function requestOf(fields: Partial<RequestToAuthorize> = {}): RequestToAuthorize {
  return { method: "POST", path: "/model/m/converse", host: HOST, parts: () => [], now: NOW, ...fields };
}

async function officialFields(request: RequestToAuthorize, credentials: Credentials): Promise<HeaderFields> {
  const { apiKey: accessKeyId, secretKey = "", sessionToken, region = "" } = credentials;
  const signer = new SignatureV4({
    // deno-lint-ignore no-explicit-any -- its type belongs to another package
    sha256: Sha256 as any,
    service: "bedrock",
    region,
    credentials: { accessKeyId, secretAccessKey: secretKey, ...(sessionToken && { sessionToken }) },
  });
  const { pathname, search, searchParams } = new URL(`https://${request.host}${request.path}`);
  assertEquals(pathname + search, request.path);
  const { headers } = await signer.sign({
    method: request.method,
    protocol: "https:",
    hostname: request.host,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { host: request.host },
    body: new Uint8Array(request.parts().flatMap((part) => [...part])),
  }, { signingDate: new Date(request.now) });
  const { host: _sentByTheConnection, ...fields } = headers;
  return fields;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("bedrock: a signature is that of the vendor's own signer", async () => {
  const paths = [
    "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream",
    "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/converse",
    "/model/a%20b'()*!~@x/invoke",
    "/prefix//model/x/converse",
    "/async-invoke?maxResults=1",
  ];
  for (const path of paths) {
    for (const parts of [[], [bytesOf('{"a":1}')], [bytesOf('{"ä'), bytesOf('":1}')]]) {
      for (
        const credentials of [{ ...KEYS, region: "us-east-1" }, {
          ...KEYS,
          region: "eu-west-3",
          sessionToken: "t/o+k=",
        }]
      ) {
        const request = requestOf({ path, parts: () => parts, method: path.includes("?") ? "GET" : "POST" });
        assertEquals(
          await byKeyOrSignature(request, credentials),
          await officialFields(request, credentials),
          `${path} ${credentials.region}`,
        );
      }
    }
  }
});

Deno.test("bedrock: an API key is sent as it is", () => {
  assertEquals(byKeyOrSignature(requestOf(), { apiKey: "bedrock-api-key-x", region: "us-east-1" }), {
    authorization: "Bearer bedrock-api-key-x",
  });
});

Deno.test("bedrock: the hash of a large body is that of its bytes, and other work runs meanwhile", async () => {
  const bytes = new Uint8Array(5_000_000).map((_, index) => index);
  const parts = [bytes.subarray(0, 3), bytes.subarray(3, 3_000_000), bytes.subarray(3_000_000)];
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  assertEquals(await payloadHash(parts), createHash("sha256").update(bytes).digest("hex"));
  clearInterval(timer);
  assert(turns > 0, "timers fire between the slices");
});

const rejection = { fields: {}, status: 403, code: "InvalidSignatureException", vendorTime: NOW + 600_000, now: NOW };

Deno.test("bedrock: the vendor's clock is adopted once it rejects a signature for its time", async () => {
  const credentials = { ...KEYS, region: "us-east-1" };
  const dateOf = async () => (await byKeyOrSignature(requestOf(), credentials))["x-amz-date"];
  assertEquals(await dateOf(), "20261126T172005Z");
  assertEquals(adoptsClock(rejection, credentials), true);
  assertEquals(await dateOf(), "20261126T173005Z");
  // The next rejection has another reason.
  assertEquals(adoptsClock(rejection, credentials), false);
  assertEquals(adoptsClock({ ...rejection, vendorTime: NOW }, credentials), true);
  assertEquals(await dateOf(), "20261126T172005Z");
});

Deno.test("bedrock: other rejections do not change the clock", async () => {
  const credentials = { ...KEYS, region: "us-east-1" };
  const before = await byKeyOrSignature(requestOf(), credentials);
  for (
    const other of [
      { code: "AccessDeniedException" },
      { code: "UnrecognizedClientException" },
      { code: null },
      { vendorTime: null },
      { vendorTime: NOW + 60_000 },
    ]
  ) assertEquals(adoptsClock({ ...rejection, ...other }, credentials), false);
  assertEquals(await byKeyOrSignature(requestOf(), credentials), before);
  assertEquals(adoptsClock(rejection, { apiKey: "key" }), false);
});

Deno.test("bedrock: the signing key changes with the day", async () => {
  const credentials = { ...KEYS, region: "us-east-1" };
  const days = [0, 1, 2, 3].map((day) => NOW + day * 86_400_000);
  const signed = await Promise.all(days.map((now) => byKeyOrSignature(requestOf({ now }), credentials)));
  const own = await Promise.all(days.map((now) => officialFields(requestOf({ now }), credentials)));
  assertEquals(signed, own);
  assertNotEquals(signed[0]?.authorization, signed[1]?.authorization);
});
