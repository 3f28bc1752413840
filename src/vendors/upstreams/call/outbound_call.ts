import type { VendorError } from "../../../conversation/contract/upstream_format.ts";
import type { ByteParts } from "../../../platform/lib/bytes/byte_parts.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { ReadCallbacks } from "../../../platform/net/http1/response.ts";
import type { FailureFacts, FailureKind, UpstreamFailure } from "./failure.ts";
import type { OutboundBody } from "./outbound_body.ts";

/** One request to a vendor. */
export interface OutboundCall {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the provider's base URL, with query. */
  readonly path: string;
  /** Header fields in addition to the provider's own, such as a vendor's feature flags from the caller. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values in place of those that the vendor's kind requires; one that an operator sets stays. Default: none. */
  readonly replaced?: Readonly<Record<string, string>>;
  /** The bytes of a JSON text, or a body that is read while it is sent. */
  readonly body: Uint8Array | ByteParts | OutboundBody | null;
  /** The time limit for the response head. It restarts with each chunk of a streamed body. */
  readonly firstByteMs: number;
  /** The maximum silence within the response. Default: the provider's. */
  readonly idleMs?: number;
  /**
   * Returns the signal that aborts when the caller disconnects. Called only for calls that last, because it is
   * expensive.
   */
  readonly callerSignal: (() => AbortSignal) | null;
  /**
   * True for a request that must reach the vendor at most once. It is sent over a new connection: a kept-alive
   * connection may close during the request, and then a retry is not safe. Default: false.
   */
  readonly freshConnection?: boolean;
  /** True if a redirect is a valid response. Its `location` is not followed here. Default: it is a failure. */
  readonly acceptsRedirect?: boolean;
  /**
   * Reads an error body in the endpoint's format.
   *
   * @param fieldOf Returns a header field of the response by its lower-case name.
   */
  readError(body: unknown, fieldOf: (name: string) => string | null): VendorRefusal;
}

/** A vendor's error, and what its code means where the status alone would be misleading. Undefined means absent. */
export interface VendorRefusal extends VendorError {
  /** Default: the kind of the status. */
  readonly kind?: FailureKind | undefined;
  /** As in {@linkcode FailureFacts}. */
  readonly isContentRefusal?: boolean | undefined;
  /** Decimal USD that the vendor bills despite the failure. */
  readonly costUsd?: string | undefined;
}

/**
 * The HTTP client of one provider, with its base URL, key and timeouts. Every failure of the vendor is an
 * {@linkcode UpstreamFailure}. An error of the gateway itself is a {@linkcode GatewayError} `internal_error`.
 */
export interface Outbound {
  /**
   * Sends a request. Resolves only with a 2xx, or with a redirect that the call accepts. The body must be read or
   * cancelled.
   *
   * @throws {UpstreamFailure}
   * @throws {GatewayError} `invalid_request` if a header value of the call is not valid. Nothing was sent.
   * `internal_error` if the gateway itself failed.
   */
  send(call: OutboundCall): Promise<OutboundResponse>;
  /**
   * Sends a JSON request and reads the whole JSON response. An error from `read` is a `broken` failure, unless it is an
   * {@linkcode UpstreamFailure}.
   */
  json<T>(
    method: OutboundCall["method"],
    path: string,
    body: JsonObject | OutboundBody | null,
    read: (response: unknown) => T,
    options?: JsonRequestOptions,
  ): Promise<T>;
  /**
   * Creates a failure that the vendor reports in a successful response.
   *
   * @param vendorMessage The vendor's message, which is redacted here; empty if there is none.
   * @param facts Further facts. Default: status 200 for kind `broken`, else no status; `accepted` is `no`.
   */
  failure(kind: FailureKind, vendorMessage: string, facts?: Partial<FailureFacts>): UpstreamFailure;
  /**
   * Returns the path and query of a URL from the vendor below the provider's base URL. Null for any other URL, so that
   * the key is not sent there.
   */
  pathOf(address: string): string | null;
  /**
   * Returns a client for a URL on another host of the vendor, with the same credential. Null unless the URL is https on
   * the default port and both hosts belong to the same one of the domains. The key is sent to no other host.
   *
   * @param domains The vendor's domains, such as `vendor.example`.
   */
  siblingHost(address: string, domains: readonly string[]): SiblingHost | null;
  /** The time limit for the response head when it arrives only after the work is done, in milliseconds. */
  readonly firstByteMs: number;
}

/** A URL on another host of the vendor. */
export interface SiblingHost {
  /** The client for that host. Its paths begin at the root. */
  readonly outbound: Outbound;
  /** With query. */
  readonly path: string;
}

/** A 2xx response, read with a time limit for silence. */
export interface OutboundResponse {
  /** 200 to 299; for an accepted redirect 300 to 399. */
  readonly status: number;
  /** The media type without parameters, in lower case. */
  readonly mediaType: string;
  /** Returns a response header by its lower-case name. */
  header(name: string): string | null;
  /** Like `HttpResponse.read`, but throws {@linkcode UpstreamFailure}. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Like `HttpResponse.readNext`, but fails with {@linkcode UpstreamFailure}. */
  readNext(callbacks: ReadCallbacks): void;
  /** Like `HttpResponse.takeArrived`, but throws {@linkcode UpstreamFailure}. */
  takeArrived(): Uint8Array<ArrayBuffer> | null;
  /**
   * Reads the whole body.
   *
   * @param capBytes The maximum size.
   * @param reserve Called with the length of each chunk. An error that it throws ends the exchange and is rethrown.
   * @throws {UpstreamFailure} Like `read`, and for a longer body.
   */
  readAll(capBytes: number, reserve?: (bytes: number) => void): Promise<Uint8Array<ArrayBuffer>>;
  /** Like {@linkcode OutboundResponse.readAll}, for a body that may be too long to be joined in one step. */
  readBody(capBytes: number, reserve?: (bytes: number) => void): Promise<JoinedBytes>;
  /** Closes the connection, which stops the vendor's work where the vendor supports that. */
  cancel(): void;
}

/** The options of a JSON exchange. */
export interface JsonRequestOptions {
  /** Returns the signal that aborts when the caller disconnects. Default: no caller. */
  readonly callerSignal?: OutboundCall["callerSignal"];
  /** Default: only the provider's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The maximum size of the response. Default: 1 MiB. */
  readonly capBytes?: number;
  /** The maximum number of JSON values of the response. Default: 100,000. */
  readonly maxValues?: number;
  /** As in {@linkcode OutboundResponse.readAll}. Default: everything is accepted. */
  readonly reserve?: (bytes: number) => void;
  /** The time limit for the response head. Default: the provider's own. */
  readonly firstByteMs?: number;
  /** As in {@linkcode OutboundCall}. */
  readonly freshConnection?: boolean;
  /** Called with the head of a 2xx response, before its body is read. Default: nothing is done. */
  readonly onResponse?: (response: Pick<OutboundResponse, "status" | "header">) => void;
  /** Parses the text of the response. Default: `JSON.parse`, which rounds integers beyond 2^53. */
  readonly parse?: (text: string) => unknown;
  /** Reads an error body. Default: the format of the default protocol, which most vendors use. */
  readonly readError?: OutboundCall["readError"];
}
