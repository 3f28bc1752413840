import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  type CallerFormatName,
  readSignature,
  type ReasoningSignature,
  WRAPPED_SIGNATURE_PREFIX,
  writeSignature,
} from "../../src/conversation/reasoning_signature.ts";

const FORMS: readonly CallerFormatName[] = ["chat", "responses", "messages", "content"];
const forms = fc.constantFrom(...FORMS);
const values = fc.string({ unit: "binary" });
/** As the configuration allows them, dots included; the percent sign for good measure. */
const issuers = fc.stringMatching(/^[a-z0-9%][a-z0-9._%-]{0,20}$/);

Deno.test("writeSeal() is undone by readSeal() for every form, issuer and value", () => {
  fc.assert(
    fc.property(forms, fc.option(issuers), values, forms, (form, issuer, value, callerForm) => {
      fc.pre(!(issuer === null && form === callerForm && value.startsWith(WRAPPED_SIGNATURE_PREFIX)));
      const seal: ReasoningSignature = { form, issuer, value };
      assertEquals(readSignature(writeSignature(seal, callerForm), callerForm), seal);
    }),
  );
});

Deno.test("writeSeal() keeps apart providers whose names hold dots", () => {
  const seal: ReasoningSignature = { form: "messages", issuer: "eu.west.anthropic", value: "a.b.c" };
  assertEquals(readSignature(writeSignature(seal, "chat"), "chat"), seal);
});

Deno.test("writeSeal() leaves a seal bare that is of the caller's form and of nobody known", () => {
  assertEquals(writeSignature({ form: "content", issuer: null, value: "CiQB" }, "content"), "CiQB");
  assertEquals(readSignature("CiQB", "content"), { form: "content", issuer: null, value: "CiQB" });
});

Deno.test("writeSeal() writes standard base64 that begins with the prefix whatever is wrapped", () => {
  fc.assert(
    fc.property(forms, issuers, values, (form, issuer, value) => {
      const text = writeSignature({ form, issuer, value }, "messages");
      assert(text.startsWith(WRAPPED_SIGNATURE_PREFIX));
      assert(/^[A-Za-z0-9+/]+={0,2}$/.test(text));
    }),
  );
});

Deno.test("readSeal() reads a wrapped seal that came back in the URL-safe alphabet", () => {
  const seal: ReasoningSignature = { form: "messages", issuer: "acme", value: "\u00ff\u00fe?>~~" };
  const text = writeSignature(seal, "content").replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  assertEquals(readSignature(text, "content"), seal);
});

Deno.test("readSeal() takes what is no wrapped seal as it is, and never throws", () => {
  const wrapped = (text: string) => btoa(text);
  for (const text of [wrapped("sy1."), wrapped("sy1.chat"), wrapped("sy1.morse.a.b"), "c3kxL", "c3kxL!!", ""]) {
    assertEquals(readSignature(text, "messages"), { form: "messages", issuer: null, value: text });
  }
  fc.assert(fc.property(values, (text) => void readSignature(WRAPPED_SIGNATURE_PREFIX + text, "chat")));
});
