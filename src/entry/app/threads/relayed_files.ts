import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { InlinedFilesParts } from "../../../services/texts/request/inlined_files.ts";
import type { NamingRequest } from "../../../services/texts/request/text_request.ts";
import type { ThreadRelay } from "../../../threads/isolates/relay.ts";

/**
 * Requests that name stored files are answered by the main thread, or by a thread for large requests by way of it. An
 * isolate stops for none of them.
 */
export function answerOnMainThread(relay: Pick<ThreadRelay, "send">): InlinedFilesParts["elsewhere"] {
  return { aboveBytes: -1, answer: (request) => relayed(request, relay) };
}

async function relayed(
  { inbound, json: { bytes } }: NamingRequest,
  relay: Pick<ThreadRelay, "send">,
): Promise<Response> {
  const { request, path, query, record, remote, peerPort = 0 } = inbound;
  const headers = new Headers(request.headers);
  headers.delete("idempotency-key"); // the isolate has taken it
  headers.set("content-length", String(bytes.length));
  const url = `http://localhost${path}${query === "" ? "" : `?${query}`}`;
  const sent = new Request(url, { method: "POST", headers, body: bytes, signal: request.signal });
  try {
    const remoteAddr = { transport: "tcp", hostname: remote, port: peerPort } as const;
    const response = await relay.send(sent, { remoteAddr });
    record.isProbe = true; // the main thread logs and counts it
    inbound.responseFields?.(); // the response has those of the main thread
    return response;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("overloaded", "The main thread of the gateway does not take requests now. Retry later", {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}
