import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { amountProblem } from "../../../src/console/client/pages/accounts/amount_problem.ts";
import { readAmount, readSignedAmount } from "../../../src/protocols/admin/shared/fields.ts";

Deno.test("amountProblem() names what is wrong with an amount", () => {
  for (const text of ["12", "12.50", "0.0000000001", "10000000", " 1 ", "000000000.9"]) {
    assertEquals(amountProblem(text, "positive"), null);
  }
  for (const text of ["", "12,50", "1e3", "$5", ".5", "5.", "+1"]) {
    assertEquals(amountProblem(text, "positive"), "format");
  }
  assertEquals(amountProblem("0.00", "positive"), "zero");
  assertEquals(amountProblem("-1", "positive"), "negative");
  assertEquals(amountProblem("-1", "signed"), null);
  assertEquals(amountProblem("0.00000000001", "positive"), "digits");
  for (const text of ["10000000.01", "10000001", "-123456789012"]) assertEquals(amountProblem(text, "signed"), "large");
});

Deno.test("amountProblem() accepts what the admin API accepts", () => {
  const isAccepted = (read: () => unknown) => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  };
  const texts = fc.stringMatching(/^[-+]?\d{0,9}(?:\.\d{0,11})?$/);
  fc.assert(fc.property(texts, (text) => {
    assertEquals(amountProblem(text, "positive") === null, isAccepted(() => readAmount("amount", text)));
    assertEquals(amountProblem(text, "signed") === null, isAccepted(() => readSignedAmount("amount", text)));
  }));
});
