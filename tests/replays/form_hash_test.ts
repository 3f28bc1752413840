import { assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { createHash } from "node:crypto";
import { bodyHashOf } from "../../src/services/replays/form_hash.ts";

const encoder = new TextEncoder();

/** Hashes a body of which `~` marks the boundary, in pieces of at most `pieceBytes`. */
function hashOf(text: string, boundary: string, pieceBytes = Infinity): string {
  const bytes = encoder.encode(text.replaceAll("~", boundary));
  const hash = bodyHashOf(createHash("sha256"), `multipart/form-data; boundary="${boundary}"`);
  for (let at = 0; at < bytes.length; at += pieceBytes) hash.update(bytes.slice(at, at + pieceBytes));
  return hash.digest();
}

const part = (name: string, value: string) =>
  `--~\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const END = "--~--\r\n";
const FORM = part("model", "m-1") + part("prompt", "line\r\n--other\r\n") + END;

Deno.test("the hash of a form does not depend on its boundary, nor on the pieces that it arrives in", () => {
  const expected = hashOf(FORM, "x");
  fc.assert(fc.property(
    fc.stringMatching(/^[0-9A-Za-z'()+_,./:=?-]{1,70}$/),
    fc.integer({ min: 1, max: 200 }),
    (boundary, pieceBytes) => {
      fc.pre(!FORM.includes(`\r\n--${boundary}`));
      assertEquals(hashOf(FORM, boundary, pieceBytes), expected);
    },
  ));
});

Deno.test("the hash of a form depends on everything else", () => {
  const forms = [
    FORM,
    part("model", "m-2") + part("prompt", "line\r\n--other\r\n") + END,
    part("prompt", "line\r\n--other\r\n") + part("model", "m-1") + END,
    part("model", "m-1") + part("model", "m-1") + part("prompt", "line\r\n--other\r\n") + END,
    part("model", "m-1") + part("prompt", "line\r\n--othe\r\n") + END,
    part("model", "m-1") + part("prompt", "line\r\n--other\r\n"),
    FORM + "epilogue",
    "preamble\r\n" + FORM,
    FORM.replace("form-data;", "form-data; filename=a.png;"),
    // The boundary within the content is one, or is content: `~` is replaced, `x` is not.
    part("model", "m-1\r\n--~\r\n\r\n") + END,
    part("model", "m-1\r\n--y\r\n\r\n") + END,
  ];
  const hashes = forms.map((form) => hashOf(form, "x-1"));
  assertEquals(new Set(hashes).size, forms.length);
});

Deno.test("a section that moves across a boundary changes the hash", () => {
  // The lengths that follow each section cannot be forged by content.
  const length = String.fromCharCode(0, 0, 0, 0, 0, 0, 0, 0);
  fc.assert(fc.property(fc.array(fc.constantFrom("a", "~", "\r\n--~", length), { maxLength: 8 }), (pieces) => {
    const text = pieces.join("");
    assertNotEquals(hashOf(text, "b"), hashOf(`${text}\r\n--~`, "b"));
    assertNotEquals(hashOf(text, "b"), hashOf(`\r\n--~${text}`, "b"));
  }));
});

Deno.test("a body with more boundaries than any form has is hashed to its end", () => {
  const many = "\r\n--~".repeat(5_000);
  assertNotEquals(hashOf(`${many}a`, "b"), hashOf(`${many}b`, "b"));
  assertEquals(hashOf(`${many}a`, "b", 7), hashOf(`${many}a`, "b"));
});

Deno.test("a body that is no form is hashed as it is", () => {
  for (const type of ["application/json", "multipart/form-data", "multipart/mixed; boundary=b", null]) {
    const hash = bodyHashOf(createHash("sha256"), type);
    hash.update(encoder.encode("\r\n--b"));
    assertEquals(hash.digest(), createHash("sha256").update("\r\n--b").digest("base64url"), String(type));
  }
});
