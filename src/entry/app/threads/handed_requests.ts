import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import { JSON_MEMORY_FACTOR } from "../../../platform/http/bodies/json_body.ts";
import type { Inbound, Route } from "../../../platform/http/request/inbound.ts";
import { RequestRecord } from "../../../platform/http/request/request_record.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { markWork } from "../../../platform/lib/process/own_heartbeat.ts";
import { outputStream } from "../../../platform/lib/streams/output_stream.ts";
import { arrivalOf } from "../../../threads/serving/large_request.ts";
import type { FromHandedThread, ToHandedThread } from "../../../threads/serving/messages.ts";
import type { HandedRequest, ReplyMessage } from "../../../threads/state/handed_request.ts";
import { plainErrorOf } from "../../../threads/state/plain_error.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";
import type { Router } from "../routing/router.ts";
import type { LiveEndpoints } from "./live_endpoints.ts";

/** The dependencies of {@linkcode HandedRequests}. */
export interface HandedRequestsParts {
  readonly state: Pick<RemoteState, "scope" | "ratesLeft" | "lease">;
  readonly endpoints: Pick<LiveEndpoints<Router>, "router" | "changesApplied">;
  readonly post: (message: FromHandedThread) => void;
}

/** A request under way. */
interface OpenRequest {
  readonly left: AbortController;
  readonly request: HandedRequest;
  /** Whether the main thread knows that the values are parsed. */
  isParsed: boolean;
  /** Ends the response, which nobody reads any more. */
  onLeft: () => void;
}

type RequestMessage = ToHandedThread & { readonly type: "request" };

/** The requests that a serving thread is handed, in that thread. Their replies go to the threads of their callers. */
export class HandedRequests {
  readonly #open = new Map<number, OpenRequest>();

  constructor(private readonly parts: HandedRequestsParts) {}

  /** Whose request the running code answers. */
  currentCredential(): Credential {
    const id = this.parts.state.scope.getStore()?.id;
    const open = id === undefined ? undefined : this.#open.get(id);
    if (open === undefined) throw new Error("No request is answered here");
    return open.request.credential;
  }

  /** The remaining work on the values of the request is done before the next iteration of the event loop. */
  onWaiting(id: number): void {
    if (this.#open.get(id)?.isParsed === false) setTimeout(() => this.#parsed(id), 0);
  }

  /** Answers a request. */
  answer(message: RequestMessage): void {
    const { state } = this.parts;
    state.scope.run({ id: message.id, lookups: 0 }, () => holdWork(this.#answer(message)));
  }

  /** The caller has left. */
  leave(id: number): void {
    const open = this.#open.get(id);
    open?.left.abort();
    open?.onLeft();
  }

  async #answer({ id, request }: RequestMessage): Promise<void> {
    const { endpoints, state } = this.parts;
    const { requestId, method, path, credential, reply } = request;
    markWork("request", requestId);
    const open: OpenRequest = { left: new AbortController(), request, isParsed: false, onLeft() {} };
    this.#open.set(id, open);
    const record = this.#recordOf(id, request);
    const rates = () => state.ratesLeft(credential);
    try {
      await endpoints.changesApplied;
      const match = endpoints.router.match(method, path);
      if (match.route === null) throw match.error;
      const response = await match.route.handler(this.#inboundOf(open, match, record));
      await this.#send(id, { response, rates, isList: match.route.streamsJsonList === true });
    } catch (error) {
      post(reply, { type: "refused", error: plainErrorOf(error), rates: rates() });
    } finally {
      this.#parsed(id);
      record.release();
    }
  }

  async #send(
    id: number,
    { response, rates, isList }: {
      readonly response: Response;
      readonly rates: () => (ReplyMessage & { readonly type: "response" })["rates"];
      readonly isList: boolean;
    },
  ): Promise<void> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    const { status } = response;
    const headers = [...response.headers];
    const isStream = isList || response.headers.get("content-type") === "text/event-stream";
    const body = isStream && response.body !== null
      ? this.#streamOf(id, open, response.body)
      : await response.arrayBuffer();
    post(open.request.reply, { type: "response", status, headers, body, rates: rates() }, [body]);
  }

  /** A stream that is read in the scope of its request, though another thread asks for it. */
  #streamOf(
    id: number,
    open: OpenRequest,
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { scope } = this.parts.state;
    const inScope = <R>(act: () => R): R => scope.run({ id, lookups: 0 }, act);
    const reader = body.getReader();
    const end = () => inScope(() => reader.cancel().catch(() => {})); // the caller has left, so a failure is not reported
    open.onLeft = () => holdWork(end());
    if (open.left.signal.aborted) open.onLeft();
    return outputStream<Uint8Array<ArrayBuffer>>({
      pull: (output) =>
        inScope(async () => {
          const { done, value } = await reader.read();
          if (done) output.close();
          else output.enqueue(value);
        }),
      cancel() {
        open.left.abort();
        return end();
      },
    }, { highWaterMark: 0 });
  }

  #parsed(id: number): void {
    const open = this.#open.get(id);
    if (open === undefined || open.isParsed) return;
    open.isParsed = true;
    this.parts.post({ type: "parsed", id });
  }

  /** The record of the thread's part of a request. Its facts are sent to the thread of the caller at the end. */
  #recordOf(id: number, request: HandedRequest): RequestRecord {
    const { trace, credential, reply } = request;
    const record = new RequestRecord(arrivalOf(request), () => {
      post(reply, { type: "record", facts: record.facts() });
      reply.close(); // a port that is dropped without this stays open as long as its thread
      this.#open.delete(id);
      this.parts.post({ type: "ended", id });
    });
    record.trace = trace;
    record.accountId = credential.accountId;
    record.keyId = credential.keyId;
    return record;
  }

  #inboundOf(
    { request: handed, left }: OpenRequest,
    { params, route: endpoint }: Pick<Inbound, "params"> & { readonly route: Route },
    record: RequestRecord,
  ): Inbound {
    const { url, method, path, query, headers, requestId, receivedAt, remote, body, credential } = handed;
    // A client may have sent an address that a parser does not take. Endpoints read the path.
    const request = new Request(URL.canParse(url) ? url : "http://localhost/", {
      method,
      headers: headers as [string, string][],
      body,
      signal: left.signal,
    });
    const memory = this.parts.state.lease(credential.accountId, body.byteLength * JSON_MEMORY_FACTOR);
    return { request, method, path, endpoint, query, params, requestId, receivedAt, remote, record, memory };
  }
}

function post(port: MessagePort, message: ReplyMessage, moved: Transferable[] = []): void {
  port.postMessage(message, moved);
}
