import type { KeyBatches } from "../../services/batches/key_batches.ts";
import type { BatchRecord } from "../../services/batches/records/batch.ts";
import type { Authenticate } from "../../money/billing/authenticate.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { type Inbound, limitIn, pathParam, readListQuery, type Route } from "../../platform/http/request/inbound.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeBatchFacts } from "../batch_facts.ts";
import { routesAt } from "../route_at.ts";

/** The dependencies of the endpoints of a key's batches of all protocols. */
export interface OwnBatchParts {
  readonly batches: KeyBatches;
  readonly authenticate: Authenticate;
}

const PAGE_SIZES = { usual: 20, max: 100 };

/** `GET /v1/key/batches`, and `GET` and `/cancel` of one. Source: docs/api/batches.md#batches-of-every-protocol. */
export function ownBatchRoutes(parts: OwnBatchParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.listOwnBatches, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readOwnBatch, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.cancelOwnBatch, (inbound) => cancel(inbound, parts)),
  ];
}

/** A batch as its owner reads it, whatever client created it. */
function writeOwnBatch(batch: BatchRecord): JsonObject {
  return {
    ...writeBatchFacts(batch),
    display_name: batch.displayName ?? null,
    errors: batch.errors,
    output_file_id: batch.outputFileId,
    error_file_id: batch.errorFileId,
  };
}

async function list(inbound: Inbound, { batches, authenticate }: OwnBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const query = readListQuery(inbound.query, {
    isKnown: (name) => name === "after" || name === "limit",
    expectation: "expected after or limit",
  });
  const page = { after: query.get("after"), limit: limitIn(query, PAGE_SIZES) };
  const found = await batches.list(keyId, page);
  return Response.json({
    data: found.batches.map(writeOwnBatch),
    next: found.hasMore ? found.batches.at(-1)?.id ?? null : null,
  });
}

async function read(inbound: Inbound, { batches, authenticate }: OwnBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return Response.json(writeOwnBatch(await batches.read(keyId, pathParam(inbound.params, "id"))));
}

async function cancel(inbound: Inbound, { batches, authenticate }: OwnBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  await inbound.request.body?.cancel();
  return Response.json(writeOwnBatch(await batches.cancel(keyId, pathParam(inbound.params, "id"))));
}
