import { ACCOUNT_ID_EXPECTATION, isAccountId } from "../../money/billing/accounts/account_id.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { type Handler, pathParam } from "../../platform/http/request/inbound.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import { BATCH_STATUSES, type BatchStatus, shownBatchId } from "../../services/batches/records/batch.ts";
import type { BatchAdmin, BatchFile, BatchWithHold } from "../../services/batches/batch_admin.ts";
import type { Batches } from "../../services/batches/batches.ts";
import { writeBatchFacts } from "../batch_facts.ts";
import { answerJson } from "./shared/answer.ts";
import { type AdminRoute, adminRoute, PRIVATE_READ } from "./shared/admin_route.ts";
import { PAGE_PARAMETERS, readPage } from "./shared/query.ts";
import { readRange, readsNewestFirst } from "./shared/time_page.ts";

/** The dependencies of the endpoints of batches. */
export interface AdminBatchOptions {
  readonly admin: BatchAdmin;
  /** Gives the batches that run; null for a gateway that does not. */
  readonly running: (() => Promise<Pick<Batches, "cancel">>) | null;
}

/** The endpoints of batches in the admin API. */
export function adminBatchRoutes({ admin, running }: AdminBatchOptions): AdminRoute[] {
  return [
    adminRoute(OPERATOR_ENDPOINTS.listAllBatches, listHandler(admin), {
      parameters: [...PAGE_PARAMETERS, "order", "from", "to", "account", "status"],
    }),
    adminRoute(OPERATOR_ENDPOINTS.readAnyBatch, async ({ params }) => {
      return answerJson(writeBatch(await admin.read(pathParam(params, "batch"))));
    }),
    adminRoute(OPERATOR_ENDPOINTS.cancelAnyBatch, cancelHandler(admin, running)),
    // Results are private: only owners read them, and the audit log tells who did.
    adminRoute(OPERATOR_ENDPOINTS.readBatchOutput, fileHandler(admin, "output"), PRIVATE_READ),
    adminRoute(OPERATOR_ENDPOINTS.readBatchErrors, fileHandler(admin, "errors"), PRIVATE_READ),
  ];
}

/**
 * `GET /admin/v1/batches?account&status&from&to&order&limit&after`: `{data, next}` by creation time in whole Unix
 * seconds, from `from` inclusive to `to` exclusive; newest first unless `order=asc`.
 */
function listHandler(admin: BatchAdmin): Handler {
  return async ({ query }) => {
    const { limit, after } = readPage(query);
    const page = { limit, after: after ?? null, reverse: readsNewestFirst(query, "desc") };
    const { batches, next } = await admin.list({ ...filterOf(query), ...readRange(query) }, page);
    return answerJson({ data: batches.map(writeBatch), next });
  };
}

function filterOf(query: string): { account: string | null; status: BatchStatus | null } {
  const parameters = new URLSearchParams(query);
  const account = parameters.get("account");
  if (account !== null && !isAccountId(account)) throw invalidField("account", `expected ${ACCOUNT_ID_EXPECTATION}`);
  const name = parameters.get("status");
  const status = BATCH_STATUSES.find((each) => each === name) ?? null;
  if (name !== null && status === null) throw invalidField("status", `expected one of ${BATCH_STATUSES.join(", ")}`);
  return { account, status };
}

/** `POST /admin/v1/batches/:batch/cancel`: the batch, cancelled as by its caller. */
function cancelHandler(admin: BatchAdmin, running: AdminBatchOptions["running"]): Handler {
  return async ({ params, request }) => {
    await request.body?.cancel();
    const { batch } = await admin.read(pathParam(params, "batch"));
    if (running === null) {
      throw new GatewayError(
        "conflict",
        "Cannot do this while the gateway does not run: start it and repeat the request",
      );
    }
    await (await running()).cancel(batch.keyId, shownBatchId(batch), batch.protocol);
    return answerJson(writeBatch(await admin.read(batch.id)));
  };
}

/** `GET /admin/v1/batches/:batch/output` and `/errors`: a file of results, as the caller gets it. */
function fileHandler(admin: BatchAdmin, file: BatchFile): Handler {
  return async ({ params }) => {
    const id = pathParam(params, "batch");
    const { bytes, stream } = await admin.open(id, file);
    return new Response(stream, {
      headers: {
        "content-type": "application/octet-stream",
        "content-length": String(bytes),
        "content-disposition": `attachment; filename="${id}_${file}.jsonl"`,
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox",
        "cache-control": "private, no-store",
      },
    });
  };
}

/** For operators: account, state, counts and money; nothing that the caller wrote or received. */
function writeBatch({ batch, hold }: BatchWithHold): JsonObject {
  return {
    ...writeBatchFacts(batch),
    account: batch.account,
    key: batch.keyId,
    // Messages and fields can repeat what the caller wrote.
    errors: batch.errors.map(({ code, line }) => ({ code, line })),
    hold: hold && { amount: writeMoney(hold.amount), state: hold.state, captured: writeMoney(hold.captured) },
    has_output: batch.outputFileId !== null,
    has_errors: batch.errorFileId !== null,
    has_callback: batch.callbackUrl !== null,
  };
}
