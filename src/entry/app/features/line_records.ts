import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { newRequestId } from "../../../platform/lib/basics/ids.ts";
import type { Endpoint } from "../../../platform/endpoints/endpoint.ts";
import { type RequestObserver, RequestRecord } from "../../../platform/http/request/request_record.ts";
import { errorRendererOf } from "../../../protocols/route_at.ts";
import type { LineReply, RefusedLine } from "../../../services/batches/lines/line_runner.ts";
import { ALL_LINE_ENDPOINTS } from "../../../services/batches/records/batch.ts";

/** The record of a line, as that of a request. */
export function recordOf(
  { endpoint, credential: { accountId, keyId } }: RefusedLine,
  { clock }: { readonly clock: Clock },
  observer: RequestObserver | null,
): RequestRecord {
  const receivedAt = clock.now();
  const requestId = newRequestId(receivedAt);
  const arrival = { requestId, receivedAt, method: "POST", sentPath: endpoint, path: endpoint, remote: "" };
  const record = new RequestRecord(arrival, observer);
  record.endpoint = endpoint;
  record.accountId = accountId;
  record.keyId = keyId;
  return record;
}

/** The reply to a line that fails, and the end of its record. It costs nothing. */
export async function refusedLine(line: RefusedLine, error: GatewayError, record: RequestRecord): Promise<LineReply> {
  const { requestId, receivedAt } = record.arrival;
  try {
    const response = errorRendererOf(rowOf(line.endpoint))(error, requestId);
    record.status = response.status;
    record.code = error.code;
    record.message = error.details.loggedMessage ?? error.message;
    record.provider ??= error.details.provider ?? null;
    record.respondedAt = receivedAt;
    return { requestId, status: response.status, body: new Uint8Array(await response.arrayBuffer()), charge: null };
  } finally {
    record.release();
  }
}

/** The endpoint of lines by its path. @throws {Error} If no batch has lines of it. */
export function rowOf(path: string): Endpoint {
  const row = ALL_LINE_ENDPOINTS.get(path);
  if (row === undefined) throw new Error(`No route answers the lines of ${path}`);
  return row;
}
