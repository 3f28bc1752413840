import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { RecordedArrival, RequestRecord } from "../../platform/http/request/request_record.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import type { AttemptTarget } from "../../vendors/routing/circuit_breaker.ts";
import type { HandedRequest } from "../state/handed_request.ts";
import type { ThreadRequest } from "../state/shared_state.ts";

/** What the main thread has of a request that a serving thread is handed. */
export class LargeRequest implements ThreadRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly receivedAt: number;
  readonly requestBytes: number;
  readonly memory: HeldMemory;
  readonly record: RequestRecord;
  servedAt: AttemptTarget | null = null;
  readonly #sentBytes: Float64Array;
  readonly #ended = Promise.withResolvers<void>();

  /**
   * @param id Its number among the requests that are handed to threads.
   * @param parts Its memory, which holds the cost of the body and the values in it, and its record.
   */
  constructor(
    readonly id: number,
    readonly handed: HandedRequest,
    { memory, record }: Pick<ThreadRequest, "memory" | "record">,
  ) {
    const { requestId, credential, receivedAt, body, sentBytes } = handed;
    this.requestId = requestId;
    this.accountId = credential.accountId;
    this.keyId = credential.keyId;
    this.receivedAt = receivedAt;
    this.requestBytes = body.byteLength;
    this.#sentBytes = new Float64Array(sentBytes);
    this.memory = memory;
    this.record = record;
    this.ended.catch(() => {}); // whoever handed it over has learned of it
  }

  /** See {@linkcode ThreadRequest.responseBytes}. */
  get responseBytes(): number {
    return this.#sentBytes[0] ?? 0;
  }

  /** Resolves when the request has ended in its thread. Rejects if it ends without a reply. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** A thread begins to answer it. A rough charge, if that thread ends, belongs to the record too. */
  begin(): void {
    this.record.hold();
  }

  /** The request and its charge have ended, after {@linkcode LargeRequest.begin}. */
  end(): void {
    this.#ended.resolve();
    this.record.release();
  }

  /** The request has no reply, or no more of it. If it was begun, its charge and its end follow. */
  fail(error: Error): void {
    this.#ended.reject(error);
  }
}

/** What the record of a handed request has of its arrival, and nothing that moves. */
export function arrivalOf(
  { requestId, receivedAt, method, path, remote }: HandedRequest,
): RecordedArrival {
  return { requestId, receivedAt, method, sentPath: path, path, remote };
}

const RETRY_AFTER_SECONDS = 5;

/** The error of a request whose thread ended. */
export function threadEnded(): GatewayError {
  const message = "Cannot finish the request: the worker that handled it ended; send it again";
  return new GatewayError("route_error", message);
}

/** The error of a request that finds too many others in the queue. */
export function tooManyQueued(): GatewayError {
  const message = "Too many large requests are queued; retry in a few seconds";
  return new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** The error of a request whose caller has left. Nobody receives it. */
export function callerLeft(): GatewayError {
  return new GatewayError("route_error", "The caller disconnected");
}
