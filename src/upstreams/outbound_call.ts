import type { VendorError } from "../conversation/upstream_format.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { FailureFacts, FailureKind, UpstreamFailure } from "./failure.ts";
import type { OutboundBody } from "./outbound_body.ts";

/** One request to a vendor. */
export interface OutboundCall {
  /** What the vendor's endpoint asks for. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the provider's base address, with query. */
  readonly path: string;
  /** Fields beside the provider's own, such as a vendor's feature flags that the caller sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of a JSON text, or a body that is read while it is sent. */
  readonly body: Uint8Array | OutboundBody | null;
  /** Longest wait for the head of the response; begins anew with each piece of a body that is read while it is sent. */
  readonly firstByteMs: number;
  /** Longest silence within the response. Default: the provider's. */
  readonly idleMs?: number;
  /** Gives the signal that fires when the caller leaves; asked only of calls that last, because asking costs. */
  readonly callerSignal: (() => AbortSignal) | null;
  /**
   * True for a request that must reach the vendor once at most: it goes over a connection of its own, as one that was
   * kept may be closed under it, and then nobody can tell whether to send it again. Default: false.
   */
  readonly freshConnection?: boolean;
  /** True where a redirect is an answer, whose `location` is not followed here. Default: it is a failure. */
  readonly takesRedirect?: boolean;
  /** Reads an error body of the endpoint's form. */
  readError(body: unknown): VendorRefusal;
}

/**
 * A vendor's own account of a failure, and what its words mean where its status alone would mislead. Undefined counts as
 * absent.
 */
export interface VendorRefusal extends VendorError {
  /** Default: what the status means. */
  readonly kind?: FailureKind | undefined;
  /** As in {@linkcode FailureFacts}. */
  readonly isContentRefusal?: boolean | undefined;
  /** Decimal USD that the vendor takes all the same. */
  readonly costUsd?: string | undefined;
}

/** The way out to one provider: address, key, deadlines. Every failure is an {@linkcode UpstreamFailure}. */
export interface Outbound {
  /**
   * Sends a request; resolves only with a 2xx (or with a redirect that is taken), whose body the caller must read or
   * cancel.
   *
   * @throws {UpstreamFailure}
   * @throws {GatewayError} `invalid_request` if a field of the call cannot stand in a header; nothing was sent then.
   */
  send(call: OutboundCall): Promise<OutboundResponse>;
  /**
   * JSON out, JSON in: sends a request, reads the whole answer and digests it. Whatever `read` throws means an answer
   * that cannot be read, unless it is an {@linkcode UpstreamFailure}.
   */
  json<T>(
    method: OutboundCall["method"],
    path: string,
    body: JsonObject | OutboundBody | null,
    read: (answer: unknown) => T,
    extras?: JsonExtras,
  ): Promise<T>;
  /**
   * A failure that the vendor tells in an answer whose status says success.
   *
   * @param said The vendor's words, which are redacted here; empty when it gave none.
   * @param facts What is known beside the words. Default: status 200 of an answer that cannot be read (`broken`), else
   * no status; and nothing was accepted.
   */
  failure(kind: FailureKind, said: string, facts?: Partial<FailureFacts>): UpstreamFailure;
  /**
   * Where an address that the vendor named stands below the provider's base address, with query; null when it is
   * anywhere else, so that the key cannot follow it there.
   */
  pathOf(address: string): string | null;
  /**
   * The way to an address that the vendor named at another of its hosts, with the same credential. Null unless it is
   * https on the usual port, and both its host and the provider's own stand below the same one of the domains: the key
   * goes nowhere else.
   *
   * @param domains The vendor's own, such as `vendor.example`.
   */
  siblingOf(address: string, domains: readonly string[]): SiblingAddress | null;
  /** Longest wait for the head of an answer that comes when the work is done, in milliseconds. */
  readonly firstByteMs: number;
}

/** An address at another host of a vendor. */
export interface SiblingAddress {
  /** The way out to that host; its paths begin at the root. */
  readonly outbound: Outbound;
  /** With query. */
  readonly path: string;
}

/** A 2xx whose silence is watched. */
export interface OutboundResponse {
  /** 200 to 299; of a redirect that was asked for 300 to 399. */
  readonly status: number;
  /** The media type without parameters, in lower case. */
  readonly mediaType: string;
  /** A header field of the answer by its lower-case name. */
  header(name: string): string | null;
  /** As `HttpResponse.read`; throws {@linkcode UpstreamFailure} instead. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /**
   * The whole body.
   *
   * @param capBytes Most bytes that are taken.
   * @param reserve Called with the length of each piece that came. What it throws ends the exchange and is thrown on.
   * @throws {UpstreamFailure} As `read`, and when the body is longer.
   */
  readAll(capBytes: number, reserve?: (bytes: number) => void): Promise<Uint8Array<ArrayBuffer>>;
  /** Stops the vendor's work as far as closing the connection does. */
  cancel(): void;
}

/** What a JSON exchange can differ in. */
export interface JsonExtras {
  /** Gives the signal that fires when the caller leaves. Default: nobody waits. */
  readonly callerSignal?: OutboundCall["callerSignal"];
  /** Default: none beside the provider's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Most bytes of the answer. Default: 1 MiB. */
  readonly capBytes?: number;
  /** As in {@linkcode OutboundResponse.readAll}. Default: everything is taken. */
  readonly reserve?: (bytes: number) => void;
  /** Longest wait for the head of the answer. Default: the provider's own. */
  readonly firstByteMs?: number;
  /** As in {@linkcode OutboundCall}. */
  readonly freshConnection?: boolean;
  /** Reads the text of the answer. Default: `JSON.parse`, which rounds whole numbers beyond 2^53. */
  readonly parse?: (text: string) => unknown;
  /** Reads an error body. Default: as the default protocol spells errors, which most vendors follow. */
  readonly readError?: (body: unknown) => VendorRefusal;
}
