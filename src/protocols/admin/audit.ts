import * as z from "zod";
import type { AdminKeyRecord, AdminKeys } from "../../observers/audit/admin_keys.ts";
import { ADMIN_ROLES, type AdminRole } from "../../observers/audit/admin_role.ts";
import type { AuditEntry, AuditLog } from "../../observers/audit/audit_log.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { ReadJson } from "./accounts.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import { readFields } from "./shared/fields.ts";
import { PAGE_PARAMETERS, readPage } from "./shared/query.ts";
import { readRange } from "./shared/time_page.ts";

/** The dependencies of the audit log's endpoint and those of admin keys. */
export interface AdminAuditOptions {
  readonly audit: AuditLog;
  readonly keys: AdminKeys;
  readonly readJson: ReadJson;
}

const ROLE_EXPECTATION = `one of ${ADMIN_ROLES.join(", ")}`;

/** The body of `POST /admin/v1/admin-keys`. */
export const NewAdminKey = z.strictObject({
  name: z.string("a name"),
  role: z.enum(ADMIN_ROLES as [AdminRole, ...AdminRole[]], ROLE_EXPECTATION),
});

/** `GET /admin/v1/audit`, and `GET`, `POST` and `DELETE` of `/admin/v1/admin-keys`. */
export function adminAuditRoutes({ audit, keys, readJson }: AdminAuditOptions): AdminRoute[] {
  const role = "owner";
  return [
    adminRoute(OPERATOR_ENDPOINTS.listAudit, async ({ query }) => {
      const parameters = new URLSearchParams(query);
      const { from, to } = readRange(query);
      const [actor, account] = [parameters.get("actor"), parameters.get("account")];
      const filter = { from, to, ...actor === null ? {} : { actor }, ...account === null ? {} : { account } };
      const { entries, next } = await audit.list(filter, readPage(query));
      return answerJson({ data: entries.map(writeAuditEntry), next });
    }, { parameters: [...PAGE_PARAMETERS, "from", "to", "actor", "account"] }),
    adminRoute(OPERATOR_ENDPOINTS.listAdminKeys, async () => answerJson({ data: (await keys.list()).map(writeKey) }), {
      role,
    }),
    adminRoute(OPERATOR_ENDPOINTS.createAdminKey, async (inbound) => {
      const { record, secret } = await keys.create(readFields(NewAdminKey, await readJson(inbound)));
      return answerJson({ ...writeKey(record), secret }, 201);
    }, { role }),
    adminRoute(
      OPERATOR_ENDPOINTS.revokeAdminKey,
      async ({ params }) => answerJson({ ...writeKey(await keys.revoke(pathParam(params, "id"))), revoked: true }),
      { role },
    ),
  ];
}

/** An entry of the audit log. Source: docs/api/admin.md#audit. */
export function writeAuditEntry(entry: AuditEntry): JsonObject {
  const { id, at, actor, requestId, method, path, account, state, before, after } = entry;
  return {
    id,
    created_at: secondsOf(at),
    actor: actor.name,
    address: actor.address,
    request_id: requestId,
    method,
    path,
    account,
    state,
    before,
    after,
  };
}

function writeKey({ id, name, role, prefix, createdAt }: AdminKeyRecord): JsonObject {
  return { id, name, role, prefix, created_at: secondsOf(createdAt) };
}
