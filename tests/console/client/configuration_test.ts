import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { editedValue, entryPath, storeRequest } from "../../../src/console/client/pages/configuration/config_change.ts";
import { meaningsOf } from "../../../src/console/client/pages/configuration/meanings.ts";
import { isJsonObject, mergePatchOf } from "../../../src/console/client/pages/configuration/merge_patch.ts";

/** RFC 7396, section 2. */
function applied(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, unknown> = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = applied(result[name], value);
  }
  return result;
}

const { value: JSON_VALUE } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer(),
    fc.constantFrom("a", "b", true),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("x", "y", "z"), tie("value"), { noNullPrototype: true }),
  ),
}));
const FIELDS = fc.dictionary(fc.constantFrom("x", "y", "z"), JSON_VALUE, { noNullPrototype: true });

Deno.test("mergePatchOf() makes the second object of the first", () => {
  fc.assert(fc.property(FIELDS, FIELDS, (before, after) => {
    assertEquals(applied(before, mergePatchOf(before, after)), after);
    assertEquals(mergePatchOf(after, after), {});
  }));
});

Deno.test("storeRequest() changes fields of an entry, and leaves a secret that is shown as (set) as it is", () => {
  const before = { kind: "openai", api_key: "(set)", limits: { rpm: 5, tpm: 9 } };
  const after = { kind: "openai", api_key: "(set)", limits: { rpm: 7 } };
  assertEquals(storeRequest({ section: "providers", name: "acme", before, after }), {
    method: "PATCH",
    path: "/admin/v1/config/providers/acme",
    body: { limits: { rpm: 7, tpm: null } },
  });
});

Deno.test("storeRequest() writes a new entry as a whole, and a single value as value", () => {
  const put = { method: "PUT", path: "/admin/v1/config/models/acme/one%3Ffree", body: { context_length: 5 } } as const;
  const model = { section: "models", name: "acme/one?free", before: undefined, after: { context_length: 5 } };
  assertEquals(storeRequest(model), put);
  const limit = { section: "limits", name: "text_body", before: 1, after: 2 };
  assertEquals(storeRequest(limit), { method: "PUT", path: "/admin/v1/config/limits/text_body", body: { value: 2 } });
});

Deno.test("a model is edited without its id, which is its name", () => {
  assertEquals(editedValue("models", { id: "acme/one", pricing: {} }), { pricing: {} });
  assertEquals(editedValue("aliases", "acme/one"), "acme/one");
  assertEquals(entryPath("aliases", "fast"), "/admin/v1/config/aliases/fast");
});

Deno.test("meaningsOf() gives the meanings of the settings of an entry, also of one with its own name", () => {
  const all = {
    "store": "Where",
    "limits.reads.per": "The period",
    "limits.text_body": "A body",
    "providers.NAME.kind": "A kind",
    "models[].pricing.prompt": "A price",
    "server.admin_keys[].role": "A role",
  };
  assertEquals(meaningsOf(all, "store", ""), [{ name: "", text: "Where" }]);
  assertEquals(meaningsOf(all, "limits", "text_body"), [{ name: "", text: "A body" }]);
  assertEquals(meaningsOf(all, "limits", "reads"), [{ name: "per", text: "The period" }]);
  assertEquals(meaningsOf(all, "providers", "openai"), [{ name: "kind", text: "A kind" }]);
  assertEquals(meaningsOf(all, "models", "openai/one"), [{ name: "pricing.prompt", text: "A price" }]);
  assertEquals(meaningsOf(all, "server", "admin_keys"), [{ name: "role", text: "A role" }]);
  assertEquals(meaningsOf(all, "limits", "text"), []);
});
