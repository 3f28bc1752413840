import { assert } from "@std/assert";
import * as fc from "fast-check";
import { isIssued, isIssuedFor, issueSignature } from "../../src/sandbox/signatures.ts";

Deno.test("a signature is recognized only for the text that it was issued for", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (text, other) => {
    const { value } = issueSignature("messages", text);
    assert(isIssuedFor("messages", value, text));
    assert(isIssued("messages", value));
    if (other !== text) assert(!isIssuedFor("messages", value, other));
  }));
});

Deno.test("a signature of one format is unknown in another", () => {
  assert(!isIssued("content", issueSignature("messages", "a").value));
});

Deno.test("a signature is recognized in the URL-safe alphabet of base64", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    const { value } = issueSignature("content", text);
    assert(isIssued("content", value.replaceAll("+", "-").replaceAll("/", "_")));
  }));
});

Deno.test("a text that is not a signature is unknown", () => {
  fc.assert(fc.property(fc.string(), (text) => assert(!isIssued("messages", text))));
  const { value } = issueSignature("messages", "a");
  assert(!isIssued("messages", value.slice(0, -6)));
  assert(!isIssued("messages", ""));
});
