import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Sandbox } from "../../src/sandbox/mod.ts";
import { ENDPOINTS, type FormName, inSandbox, post } from "./support.ts";

/** A request that a vendor refuses: the fields that replace or join those of a good one, and words of the refusal. */
export type Refused = readonly [what: string, fields: Record<string, unknown>, words: string];

/** One test per request that a form's vendor refuses with a 400, and one that the unchanged request is taken. */
export function refuses(form: FormName, cases: readonly Refused[]): void {
  Deno.test(`sandbox ${form} takes a plain request`, () =>
    inSandbox(async ({ sandbox }) => {
      const { status, text } = await answerTo(sandbox, form, {});
      assertEquals(status, 200, text);
    }));
  for (const [what, fields, words] of cases) {
    Deno.test(`sandbox ${form} refuses ${what}`, () =>
      inSandbox(async ({ sandbox }) => {
        const { status, text } = await answerTo(sandbox, form, fields);
        assertStringIncludes(text, JSON.stringify(words).slice(1, -1));
        assertEquals(status, 400);
      }));
  }
}

/** One test per request that a form's vendor takes. */
export function takes(form: FormName, cases: readonly (readonly [string, Record<string, unknown>])[]): void {
  for (const [what, fields] of cases) {
    Deno.test(`sandbox ${form} takes ${what}`, () =>
      inSandbox(async ({ sandbox }) => {
        const { status, text } = await answerTo(sandbox, form, fields);
        assertEquals(status, 200, text);
      }));
  }
}

async function answerTo(sandbox: Sandbox, form: FormName, fields: Record<string, unknown>) {
  const response = await post(sandbox, form, { ...ENDPOINTS[form].body("Hi"), ...fields });
  return { status: response.status, text: await response.text() };
}
