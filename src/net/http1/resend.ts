import type { Clock } from "../../lib/clock.ts";
import type { Connection, ReceivedHead } from "./connection.ts";
import { ConnectionError } from "./connection_error.ts";
import type { WireRequest } from "./wire_request.ts";

/** A server that closed a kept connection without looking at the request shows it within a round trip. */
const MAX_STALE_MS = 2_000;

/** Where the connections of one request come from. */
export interface ConnectionSource {
  /** A kept connection, for this request alone; null when there is none. */
  take(): Promise<Connection | null>;
  /** A new connection. */
  open(): Promise<Connection>;
  /** Called with each connection before it is used. Whatever it throws ends the request. */
  onConnection(connection: Connection): void;
}

/** The head of a response, and the connection that carries its body. */
export interface Exchanged extends ReceivedHead {
  /** In use until the body is read to its end. */
  readonly connection: Connection;
}

/**
 * Sends a request over a kept connection, else over a new one. A request whose kept connection fails is sent again only
 * as {@linkcode mayResend} allows; every other failure is thrown.
 *
 * @throws {ConnectionError}
 */
export async function exchangeOver(source: ConnectionSource, request: WireRequest, clock: Clock): Promise<Exchanged> {
  let mayTake = !request.freshConnection;
  for (;;) {
    const kept = mayTake ? await source.take() : null;
    const connection = kept ?? await source.open();
    source.onConnection(connection);
    const sentAt = clock.now();
    try {
      return { connection, ...await connection.exchange(request) };
    } catch (error) {
      connection.close();
      if (kept === null || !mayResend(error, request, clock.now() - sentAt)) throw error;
      // Kept connections may go on failing in the same way; after one byte was sent there is one more attempt.
      mayTake = error.progress === "unsent";
    }
  }
}

/**
 * Whether a request whose kept connection failed may be sent again: always when no byte of it was written; otherwise
 * only a repeatable one (RFC 9110, 9.2.2), whose connection closed at once and without a byte of an answer. A vendor
 * may have begun to work on any other request, and would charge it twice.
 */
function mayResend(error: unknown, request: WireRequest, elapsedMs: number): error is ConnectionError {
  if (!(error instanceof ConnectionError) || error.kind !== "closed") return false;
  if (error.progress === "unsent") return true;
  const { isRepeatable = request.method === "GET" || request.method === "HEAD" } = request;
  return isRepeatable && error.progress === "sent" && elapsedMs <= MAX_STALE_MS;
}
