import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isBucketPrefix, isInBucket } from "../../src/money/billing/declared/bucket_prefix.ts";

Deno.test("isInBucket() is true for no address that leaves its folder once it is decoded", () => {
  const piece = fc.constantFrom("a", "..", ".", "%2e%2e", "%2E.", "", "\\\\", "b c", "?x", "#y", "*", "\n", "Ä");
  fc.assert(fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
    const address = `gs://acme/media/${pieces.join("/")}`;
    if (!isInBucket(address, ["gs://acme/media/"])) return;
    const { pathname } = new URL(address.replace("gs:", "http:"));
    assertEquals(decodeURIComponent(pathname).startsWith("/media/"), true, address);
    assertEquals(decodeURIComponent(pathname), `/media/${pieces.join("/")}`);
  }));
});

Deno.test("isInBucket() accepts objects below the prefix, in whatever case the scheme is", () => {
  for (const address of ["gs://acme/media/a.png", "GS://acme/media/b/c.png"]) {
    assertEquals(isInBucket(address, ["s3://x/", "gs://acme/media/"]), true);
  }
  for (const address of ["gs://acme/media", "gs://acme/media/", "gs://acme/mediax/a", "s3://acme/media/a", "", ":"]) {
    assertEquals(isInBucket(address, ["gs://acme/media/"]), false, address);
  }
});

Deno.test("isBucketPrefix() requires a final slash and nothing to decode", () => {
  const cases = {
    "gs://a/": true,
    "s3://a.b-c/d e/f/": true,
    "gs://a": false,
    "gs://a/b": false,
    "gs://a/../b/": false,
  };
  for (const [text, expected] of Object.entries(cases)) assertEquals(isBucketPrefix(text), expected, text);
  for (const text of ["gs://a/%2e/", "gs:///", "a/", "gs://a//", "gs://a/*/"]) {
    assertEquals(isBucketPrefix(text), false);
  }
});
