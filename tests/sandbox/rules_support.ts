import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Sandbox } from "../../src/sandbox/mod.ts";
import { ENDPOINTS, type FormName, inSandbox, post } from "./support.ts";

/** A request that a vendor rejects: the fields that are added to a valid one, and a part of the error message. */
export type Refused = readonly [what: string, fields: Record<string, unknown>, words: string];

/** Adds one test per request that a format's vendor rejects with 400, and one for the unchanged request. */
export function refuses(form: FormName, cases: readonly Refused[]): void {
  Deno.test(`sandbox ${form} accepts a plain request`, () =>
    inSandbox(async ({ sandbox }) => {
      const { status, text } = await answerTo(sandbox, form, {});
      assertEquals(status, 200, text);
    }));
  for (const [what, fields, words] of cases) {
    Deno.test(`sandbox ${form} rejects ${what}`, () =>
      inSandbox(async ({ sandbox }) => {
        const { status, text } = await answerTo(sandbox, form, fields);
        assertStringIncludes(text, JSON.stringify(words).slice(1, -1));
        assertEquals(status, 400);
      }));
  }
}

/** Adds one test per request that a format's vendor accepts. */
export function takes(form: FormName, cases: readonly (readonly [string, Record<string, unknown>])[]): void {
  for (const [what, fields] of cases) {
    Deno.test(`sandbox ${form} accepts ${what}`, () =>
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
