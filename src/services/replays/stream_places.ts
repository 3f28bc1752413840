import { CALLER_ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { addressOf } from "../../platform/endpoints/endpoint.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import { outputStream } from "../../platform/lib/streams/output_stream.ts";
import type { HttpClient } from "../../platform/net/http1/client.ts";
import { headerLinesOf } from "../../platform/net/http1/header_lines.ts";
import type { HttpResponse } from "../../platform/net/http1/response.ts";
import { originOf } from "../../platform/net/http1/wire_request.ts";
import type { Store } from "../../platform/store/store.ts";
import { streamPlaceKey } from "./records.ts";

/** The dependencies of {@linkcode StreamPlaces}. */
export interface StreamPlacesParts {
  readonly store: Pick<Store, "get" | "commit">;
  readonly clock: Clock;
  readonly log: Log;
  /** Connects to the other gateways, without a proxy. */
  readonly client: Pick<HttpClient, "send">;
  /** Where the other gateways reach this one, without a final slash; null if they cannot. */
  readonly ownUrl: () => string | null;
}

/** A stream under way can be long; its events are kept for some minutes after it. */
const RECORD_TTL_MS = 24 * 3_600_000;
/** For the head of the other gateway's response. */
const HEAD_MS = 10_000;
const RETRY_SECONDS = 5;

/** Marks a request from another gateway, which is not forwarded again. */
const FORWARDED = "x-service-forwarded";
/** The caller's fields that the other gateway needs: it checks the key itself. */
const PASSED_FIELDS = ["authorization", "x-api-key", "x-goog-api-key", "last-event-id", "origin"] as const;
/** The fields of the response that belong to the stream, and not to the gateway that returns it. */
const STREAM_FIELDS = [
  "content-type",
  "cache-control",
  "x-accel-buffering",
  "x-service-provider",
  "x-service-model",
  "x-service-dropped",
  "x-service-output-limit",
] as const;

/**
 * Which gateway keeps the events of a stream, where several share a store. A gateway without them reads the stream from
 * the one that has them. Source: docs/api/resuming.md#several-gateways.
 */
export class StreamPlaces {
  constructor(private readonly parts: StreamPlacesParts) {}

  /** Stores that this gateway keeps the events of a request. Without the record, only this gateway finds them. */
  async record(accountId: string, requestId: string): Promise<void> {
    const { store, log, ownUrl } = this.parts;
    const url = ownUrl();
    if (url === null) return;
    try {
      const set = [{ key: streamPlaceKey(accountId, requestId), value: { url }, ttlMs: RECORD_TTL_MS }];
      await store.commit(null, { set });
    } catch (error) {
      log.warn("stream_place_unrecorded", { requestId, reason: error instanceof Error ? error.name : "no error" });
    }
  }

  /**
   * Reads the stream of a request from the gateway that keeps it.
   *
   * @returns The other gateway's response, which can be an error; null if no other gateway keeps the stream.
   * @throws {GatewayError} `storage_unavailable` if that gateway cannot be reached.
   */
  async read(
    inbound: Pick<Inbound, "request" | "headers" | "remote">,
    accountId: string,
    requestId: string,
  ): Promise<Response | null> {
    const { store, ownUrl } = this.parts;
    const { request, headers = request.headers } = inbound;
    if (headers.get(FORWARDED) !== null) return null;
    const [entry] = await store.get<{ readonly url: string }>([streamPlaceKey(accountId, requestId)]);
    if (!entry || entry.value.url === ownUrl()) return null;
    const fields: Record<string, string> = { [FORWARDED]: "1", "x-forwarded-for": inbound.remote };
    for (const name of PASSED_FIELDS) {
      const value = headers.get(name);
      if (value !== null) fields[name] = value;
    }
    const url = new URL(entry.value.url + addressOf(CALLER_ENDPOINTS.resumeStream, { id: requestId }));
    const response = await this.#send(url, fields);
    if (response.status === 404) {
      response.cancel();
      return null;
    }
    const passed = STREAM_FIELDS.flatMap((name): [string, string][] => {
      const value = response.head.get(name);
      return value === null ? [] : [[name, value]];
    });
    if (response.status === 204) return new Response(null, { status: 204, headers: passed });
    return new Response(bodyOf(response), { status: response.status, headers: passed });
  }

  async #send(url: URL, fields: Readonly<Record<string, string>>): Promise<HttpResponse> {
    const { client, clock } = this.parts;
    let cancel = () => {};
    const inTime = clock.after(HEAD_MS, () => cancel());
    const request = { method: "GET", path: url.pathname, headerLines: headerLinesOf(fields), body: null };
    try {
      return await client.send(originOf(url), request, (given) => void (cancel = given));
    } catch (cause) {
      throw new GatewayError(
        "storage_unavailable",
        "Cannot read the stream: the gateway that keeps its events cannot be reached; repeat the request",
        { cause, retryAfterSeconds: RETRY_SECONDS },
      );
    } finally {
      inTime();
    }
  }
}

/** The body of a response, which ends with its reader. */
function bodyOf(response: HttpResponse): ReadableStream<Uint8Array<ArrayBuffer>> {
  return outputStream({
    async pull(output) {
      const chunk = await response.read();
      if (chunk === null) output.close();
      else output.enqueue(chunk);
    },
    cancel: () => response.cancel(),
  }, { highWaterMark: 0 });
}
