import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  type CallerFormatName,
  readSignature,
  type ReasoningSignature,
  WRAPPED_SIGNATURE_PREFIX,
  writeSignature,
} from "../../src/conversation/neutral/reasoning_signature.ts";

const FORMS: readonly CallerFormatName[] = ["chat", "responses", "messages", "content"];
const forms = fc.constantFrom(...FORMS);
const values = fc.string({ unit: "binary" });
/** Provider names as the configuration allows them, with dots and percent signs. */
const issuers = fc.stringMatching(/^[a-z0-9%][a-z0-9._%-]{0,20}$/);

Deno.test("readSignature() is the inverse of writeSignature() for every format, issuer and value", () => {
  fc.assert(
    fc.property(forms, fc.option(issuers), values, forms, (form, issuer, value, callerFormat) => {
      fc.pre(!(issuer === null && form === callerFormat && value.startsWith(WRAPPED_SIGNATURE_PREFIX)));
      const signature: ReasoningSignature = { format: form, issuer, value };
      assertEquals(readSignature(writeSignature(signature, callerFormat), callerFormat), signature);
    }),
  );
});

Deno.test("writeSignature() distinguishes providers with dots in their names", () => {
  const signature: ReasoningSignature = { format: "messages", issuer: "eu.west.anthropic", value: "a.b.c" };
  assertEquals(readSignature(writeSignature(signature, "chat"), "chat"), signature);
});

Deno.test("writeSignature() does not wrap a signature of the caller's format and an unknown issuer", () => {
  assertEquals(writeSignature({ format: "content", issuer: null, value: "CiQB" }, "content"), "CiQB");
  assertEquals(readSignature("CiQB", "content"), { format: "content", issuer: null, value: "CiQB" });
});

Deno.test("writeSignature() writes standard base64 that always starts with the prefix", () => {
  fc.assert(
    fc.property(forms, issuers, values, (form, issuer, value) => {
      const text = writeSignature({ format: form, issuer, value }, "messages");
      assert(text.startsWith(WRAPPED_SIGNATURE_PREFIX));
      assert(/^[A-Za-z0-9+/]+={0,2}$/.test(text));
    }),
  );
});

Deno.test("readSignature() reads a wrapped signature in the URL-safe alphabet", () => {
  const signature: ReasoningSignature = { format: "messages", issuer: "acme", value: "\u00ff\u00fe?>~~" };
  const text = writeSignature(signature, "content").replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  assertEquals(readSignature(text, "content"), signature);
});

Deno.test("readSignature() returns any other text unchanged, and never throws", () => {
  const wrapped = (text: string) => btoa(text);
  for (const text of [wrapped("sy1."), wrapped("sy1.chat"), wrapped("sy1.morse.a.b"), "c3kxL", "c3kxL!!", ""]) {
    assertEquals(readSignature(text, "messages"), { format: "messages", issuer: null, value: text });
  }
  fc.assert(fc.property(values, (text) => void readSignature(WRAPPED_SIGNATURE_PREFIX + text, "chat")));
});
