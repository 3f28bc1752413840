import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Form, readSeal, type Seal, WRAPPED_SEAL_PREFIX, writeSeal } from "../../src/conversation/seal.ts";

const FORMS: readonly Form[] = ["chat", "responses", "messages", "content"];
const forms = fc.constantFrom(...FORMS);
const values = fc.string({ unit: "binary" });
/** As the configuration allows them, dots included; the percent sign for good measure. */
const issuers = fc.stringMatching(/^[a-z0-9%][a-z0-9._%-]{0,20}$/);

Deno.test("writeSeal() is undone by readSeal() for every form, issuer and value", () => {
  fc.assert(
    fc.property(forms, fc.option(issuers), values, forms, (form, issuer, value, callerForm) => {
      fc.pre(!(issuer === null && form === callerForm && value.startsWith(WRAPPED_SEAL_PREFIX)));
      const seal: Seal = { form, issuer, value };
      assertEquals(readSeal(writeSeal(seal, callerForm), callerForm), seal);
    }),
  );
});

Deno.test("writeSeal() keeps apart providers whose names hold dots", () => {
  const seal: Seal = { form: "messages", issuer: "eu.west.anthropic", value: "a.b.c" };
  assertEquals(readSeal(writeSeal(seal, "chat"), "chat"), seal);
});

Deno.test("writeSeal() leaves a seal bare that is of the caller's form and of nobody known", () => {
  assertEquals(writeSeal({ form: "content", issuer: null, value: "CiQB" }, "content"), "CiQB");
  assertEquals(readSeal("CiQB", "content"), { form: "content", issuer: null, value: "CiQB" });
});

Deno.test("writeSeal() writes standard base64 that begins with the prefix whatever is wrapped", () => {
  fc.assert(
    fc.property(forms, issuers, values, (form, issuer, value) => {
      const text = writeSeal({ form, issuer, value }, "messages");
      assert(text.startsWith(WRAPPED_SEAL_PREFIX));
      assert(/^[A-Za-z0-9+/]+={0,2}$/.test(text));
    }),
  );
});

Deno.test("readSeal() reads a wrapped seal that came back in the URL-safe alphabet", () => {
  const seal: Seal = { form: "messages", issuer: "acme", value: "\u00ff\u00fe?>~~" };
  const text = writeSeal(seal, "content").replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  assertEquals(readSeal(text, "content"), seal);
});

Deno.test("readSeal() takes what is no wrapped seal as it is, and never throws", () => {
  const wrapped = (text: string) => btoa(text);
  for (const text of [wrapped("sy1."), wrapped("sy1.chat"), wrapped("sy1.morse.a.b"), "c3kxL", "c3kxL!!", ""]) {
    assertEquals(readSeal(text, "messages"), { form: "messages", issuer: null, value: text });
  }
  fc.assert(fc.property(values, (text) => void readSeal(WRAPPED_SEAL_PREFIX + text, "chat")));
});
