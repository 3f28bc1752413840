import type { Charge } from "../../money/billing/meter/meter.ts";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { Money } from "../../platform/lib/basics/money.ts";

/** One request of a batch. */
export interface LineRequest {
  /** The path of its endpoint. */
  readonly endpoint: string;
  readonly credential: Credential;
  /** JSON. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Receives the size of the stored files that it names, before they are read. It may refuse them. */
  readonly onFiles?: (bytes: number) => void;
}

/** The reply to a line. */
export interface LineReply {
  readonly requestId: string;
  /** The HTTP status. */
  readonly status: number;
  /** JSON. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** What it costs, to be charged with the line; null for nothing. */
  readonly charge: Charge | null;
}

/** Handles single requests as the endpoints do, without a connection and without a charge. */
export interface LineRunner {
  /**
   * Checks a request as its endpoint does, and returns the most that it can cost.
   *
   * @throws {GatewayError} What the endpoint would answer.
   */
  estimate(request: LineRequest): Promise<Money>;
  /**
   * Answers a request. Never throws what an endpoint answers.
   *
   * @param part What it may cost.
   * @param signal Ends the request.
   */
  run(request: LineRequest, part: Money, signal: AbortSignal): Promise<LineReply>;
  /** Whether interactive requests wait for a provider, so that lines should not begin. */
  isBusy(): boolean;
}
