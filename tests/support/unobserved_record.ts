import { type RecordedArrival, RequestRecord } from "../../src/platform/http/request/request_record.ts";

/** A record that nobody reads, for calls outside a request. */
export function unobservedRecord(): RequestRecord {
  return new RequestRecord(NO_ARRIVAL);
}

const NO_ARRIVAL: RecordedArrival = { requestId: "", receivedAt: 0, method: "", sentPath: "", path: "", remote: "" };
