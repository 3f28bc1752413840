import type { Charge } from "../../../money/billing/meter/meter.ts";
import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { BatchedCall, BatchUpstream } from "../../../vendors/upstreams/contract/batch_upstream.ts";

/** One request of a batch. */
export interface LineRequest {
  /** The path of its endpoint. */
  readonly endpoint: string;
  readonly credential: Credential;
  /** JSON. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The model that the line names, if that is known. */
  readonly model?: string;
  /** As in the record of the batch. */
  readonly betas?: string | undefined;
  /** Receives the size of the stored files that it names, before they are read. It may refuse them. */
  readonly onFiles?: (bytes: number) => void;
}

/** A line that is answered without being run. */
export interface RefusedLine extends Pick<LineRequest, "endpoint"> {
  /** The key of the batch, which may be revoked. */
  readonly credential: Pick<Credential, "accountId" | "keyId">;
}

/** The reply to a line. */
export interface LineReply {
  /** The log of requests has it: every line of a results file is found there. */
  readonly requestId: string;
  /** The HTTP status. */
  readonly status: number;
  /** JSON. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** What it costs, to be charged with the line; null for nothing. */
  readonly charge: Charge | null;
}

/** Whether a reply belongs into the output file. */
export function isSuccess({ status }: Pick<LineReply, "status">): boolean {
  return status < 400;
}

/** Whether a reply says nothing about its line: a limit, or the gateway for lack of memory or storage, refused it. */
export function isRefusedForNow({ status, charge }: Pick<LineReply, "status" | "charge">): boolean {
  return charge === null && (status === 429 || status === 503);
}

/** Whose batches a line is sent in. */
export interface BatchRoute {
  /** The id of the provider, with its credential. */
  readonly provider: string;
  /** The vendor's name of the model. */
  readonly model: string;
}

/** What a line needs. */
export interface LineNeeds {
  /** The most that it can cost. */
  readonly part: Money;
  /** Null for a line that the gateway runs. */
  readonly route: BatchRoute | null;
}

/** A line at a vendor. */
export interface RoutedLine {
  readonly request: LineRequest;
  readonly route: BatchRoute;
  /** What it may cost. */
  readonly part: Money;
}

/** What a vendor answered to a line. */
export interface VendorReply {
  /** The HTTP status. */
  readonly status: number;
  /** JSON, in the vendor's format. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Handles single requests as the endpoints do, without a connection and without a charge. */
export interface LineRunner {
  /**
   * Checks a request as its endpoint does, and returns what it needs.
   *
   * @throws {GatewayError} What the endpoint would answer.
   */
  estimate(request: LineRequest): Promise<LineNeeds>;
  /**
   * Answers a request. Never throws what an endpoint answers.
   *
   * @param part What it may cost.
   * @param signal Ends the request.
   */
  run(request: LineRequest, part: Money, signal: AbortSignal): Promise<LineReply>;
  /** Writes a line as its vendor gets it, and sends nothing; the reply if it cannot be sent. */
  compose(line: RoutedLine): Promise<{ readonly call: BatchedCall } | { readonly reply: LineReply }>;
  /** Answers a line from its vendor's reply, without a further call. Never throws what an endpoint answers. */
  answer(line: RoutedLine, reply: VendorReply): Promise<LineReply>;
  /**
   * The reply to a line that is not run, for a reason of its batch: its key, its provider or its vendor's batch. It is
   * logged as a request that was refused.
   */
  refuse(line: RefusedLine, error: GatewayError): Promise<LineReply>;
  /** The batches of a provider; null if it has none any more. */
  batchesOf(provider: string): Promise<BatchUpstream | null>;
  /** Whether interactive requests wait for a provider, so that lines should not begin. */
  isBusy(): boolean;
}
