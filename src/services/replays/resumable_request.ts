import type { DetachedWork } from "../calls/detached_work.ts";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import { CALLER_ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { addressOf } from "../../platform/endpoints/endpoint.ts";
import { changedInbound, type Handler, type Inbound } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import { outputStream } from "../../platform/lib/streams/output_stream.ts";
import type { KeptStreams, StreamLimits } from "./kept_streams.ts";
import type { StreamPlaces } from "./stream_places.ts";

/** The dependencies of streams that can be resumed. */
export interface ResumableParts {
  readonly streams: KeptStreams;
  readonly limits: StreamLimits;
  /** Records which gateway keeps the events; null if no other gateway can be on the store. */
  readonly places: StreamPlaces | null;
  /** What a shutdown waits for. */
  readonly detached: DetachedWork;
}

/**
 * Carries out a request with `X-Service-Resume: true`. The events of its stream have ids and are kept, and the stream
 * is read to its end without its caller. A reply of another kind is returned as without the header. Source:
 * docs/api/resuming.md.
 *
 * @throws {GatewayError} `invalid_request` unless the header is `true` or `false`; `rate_limited` for too many streams;
 * what the handler throws.
 */
export async function answerResumable(
  handler: Handler,
  inbound: Inbound,
  { accountId }: Credential,
  { streams, limits, places, detached }: ResumableParts,
): Promise<Response> {
  const { headers = inbound.request.headers, requestId, request } = inbound;
  if (!isWanted(headers.get("x-service-resume"))) return await handler(inbound);
  const giveBack = streams.admit(accountId, limits);
  const left = new AbortController();
  const onLeft = () => left.abort();
  request.signal.addEventListener("abort", onLeft);
  // The memory of the request ends with its connection.
  const memory = inbound.memory.fork();
  try {
    const own = new Request(request, { signal: left.signal });
    const { peerPort: _, ...changed } = changedInbound(inbound, { request: own, memory });
    const response = await handler(changed);
    const { body, status } = response;
    if (body === null || response.headers.get("content-type") !== "text/event-stream") {
      return withMemory(response, memory);
    }
    request.signal.removeEventListener("abort", onLeft);
    const shared = inbound.responseFields?.() ?? {};
    const stored = [...response.headers].filter(([name]) => !(name in shared) && name !== "content-length");
    const facts = { accountId, requestId, endpoint: inbound.endpoint, headers: stored };
    giveBack(); // it is counted as kept from here on
    const { stream, ended } = streams.keep(facts, body, { memory: inbound.memory.fork(), limits });
    const onOver = detached.add(() => {}); // the relay ends its stream at a shutdown
    holdWork(ended.finally(() => {
      memory.end();
      onOver();
    }));
    for (const name in shared) response.headers.set(name, shared[name]!);
    response.headers.set("x-service-resume", addressOf(CALLER_ENDPOINTS.resumeStream, { id: requestId }));
    await places?.record(accountId, requestId);
    return new Response(stream.read(0), { status, headers: response.headers });
  } catch (error) {
    memory.end();
    throw error;
  } finally {
    giveBack();
  }
}

function isWanted(value: string | null): boolean {
  if (value === null || value === "false") return false;
  if (value === "true") return true;
  throw new GatewayError("invalid_request", 'Cannot read the header "X-Service-Resume": expected true or false', {
    field: "X-Service-Resume",
  });
}

/** The response, with the memory of its request until it has ended. */
function withMemory(response: Response, memory: HeldMemory): Response {
  const { body, status, headers } = response;
  if (body === null) {
    memory.end();
    return response;
  }
  const reader = body.getReader();
  const passed = outputStream<Uint8Array<ArrayBuffer>>({
    async pull(output) {
      try {
        const { done, value } = await reader.read();
        if (!done) return output.enqueue(value);
        output.close();
      } catch (error) {
        output.error(error);
      }
      memory.end();
    },
    async cancel(reason) {
      memory.end();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(passed, { status, headers });
}
