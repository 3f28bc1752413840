import { BodyCapture, type CapturedBodies } from "../../platform/http/request/body_capture.ts";
import { type RequestObserver, RequestRecord } from "../../platform/http/request/request_record.ts";
import type { RecordMessage } from "./messages.ts";

/** Writes the record of a request for the main thread. */
export function recordMessageOf(record: RequestRecord, bodies: CapturedBodies | null): RecordMessage {
  const { arrival, trace, endpoint, isProbe, status, code, message, refusal, respondedAt } = record;
  const { requestId, receivedAt, method, sentPath, path, remote } = arrival;
  return {
    type: "record",
    arrival: { requestId, receivedAt, method, sentPath, path, remote },
    facts: record.facts(),
    outcome: { trace, endpoint, isProbe, status, code, message, refusal, respondedAt },
    bodies,
  };
}

/** Gives the record of an isolate's request to the observer in the main thread. */
export function observeMessage({ arrival, facts, outcome, bodies }: RecordMessage, observer: RequestObserver): void {
  const record = new RequestRecord(arrival, observer);
  record.adopt(facts);
  Object.assign(record, outcome);
  if (bodies !== null) record.capture = BodyCapture.of(bodies);
  record.release();
}

/** A request whose isolate ended before its reply did. Only what the journal has of it is charged. */
export function lostRequest(request: RecordMessage): RecordMessage {
  const { status } = request.outcome;
  const outcome = {
    ...request.outcome,
    status: status === 0 ? INTERNAL_ERROR_STATUS : status,
    code: "internal_error",
    message: "The thread that answered the request ended",
  };
  return { ...request, outcome, bodies: null };
}

const INTERNAL_ERROR_STATUS = 500;
