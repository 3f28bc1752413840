import { assertEquals } from "@std/assert";
import { auditSentence } from "../../../src/console/client/pages/audit/audit_sentence.ts";
import type { AuditEntry } from "../../../src/console/client/shapes.ts";
import { OPERATOR_ENDPOINTS } from "../../../src/platform/endpoints/operators.ts";

function sentence(request: string, values: Partial<Pick<AuditEntry, "before" | "after">> = {}): string {
  const [method = "", path = ""] = request.split(" ");
  return auditSentence({ method, path, before: null, after: null, ...values });
}

Deno.test("a change of one field is a sentence with its value", () => {
  const key = "PATCH /admin/v1/accounts/bot/keys/key_1";
  assertEquals(
    sentence(key, { before: { budget: null }, after: { budget: { amount: "1", per: "day" } } }),
    "set the budget of the key key_1 of bot to $1.00 per day",
  );
  assertEquals(sentence(key, { before: { rpm: 5 }, after: { rpm: null } }), "removed the rpm of the key key_1 of bot");
  assertEquals(
    sentence("PATCH /admin/v1/accounts/bot", { before: { name: null, rpm: 1 }, after: { name: "Bot", rpm: 2 } }),
    "changed name, rpm of the account bot",
  );
});

Deno.test("keys, accounts and settings are named in the sentences about them", () => {
  assertEquals(sentence("POST /admin/v1/accounts", { after: { id: "acme" } }), "created the account acme");
  assertEquals(
    sentence("POST /admin/v1/accounts/acme/keys", { after: { id: "key_1", name: "ci" } }),
    "created the key ci of acme",
  );
  assertEquals(sentence("DELETE /admin/v1/accounts/acme/keys/key_1"), "revoked the key key_1 of acme");
  assertEquals(sentence("POST /admin/v1/accounts/a%20b/suspend"), "suspended the account a b");
  assertEquals(sentence("PUT /admin/v1/config/aliases/fast"), "changed the setting aliases.fast");
  assertEquals(sentence("SIGHUP config"), "changed config (SIGHUP)");
  assertEquals(sentence("GET /admin/v1/requests/req_1/bodies"), "opened the bodies of the request req_1");
});

Deno.test("every endpoint of the admin API that changes something has a sentence", () => {
  const missing = Object.values(OPERATOR_ENDPOINTS).filter(({ method, path }) =>
    method !== "GET" && !/\/(events|price|reconcile)$/.test(path)
  )
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)\*?/g, "$1")}`)
    .filter((request) => sentence(request) === request);
  assertEquals(missing, []);
});
