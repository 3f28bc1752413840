import { assertEquals } from "@std/assert";
import { AuditLog } from "../../../src/observers/audit/audit_log.ts";
import { openTestAdmin, UNFINISHED } from "./support.ts";

Deno.test("a change that was made in part is 409, and its entry in the audit log stays", async () => {
  const { call, store } = await openTestAdmin();
  const { status, body } = await call("POST", "/acme/erase");
  assertEquals([status, body.error], [409, { code: "conflict", message: UNFINISHED }]);
  const { entries } = await new AuditLog(store, null).list({ account: "acme" }, { limit: 10 });
  assertEquals(entries.map(({ path, state, after }) => [path, state, after]), [
    ["/admin/v1/accounts/acme/erase", "begun", null],
  ]);
});
