import type { Clock } from "../../lib/basics/clock.ts";
import type { Connection, ReceivedHead } from "./connection.ts";
import { ConnectionError } from "./connection_error.ts";
import type { WireRequest } from "./wire_request.ts";

/** A server that closed an idle connection without reading the request is detected within a round trip. */
const MAX_STALE_MS = 2_000;

/** Supplies the connections of one request. */
export interface ConnectionSource {
  /** Resolves when an idle connection can be taken; null if it can be at once. See `IdleConnections.verified`. */
  verified(): Promise<void> | null;
  /** Takes an idle connection; null if there is none. */
  take(): Connection | null;
  /** A new connection. */
  open(): Promise<Connection>;
  /** Called with each connection before it is used. If it throws, the request ends. */
  onConnection(connection: Connection): void;
}

/** The head of a response and the connection of its body. */
export interface Exchanged extends ReceivedHead {
  /** In use until the body is read to its end. */
  readonly connection: Connection;
}

/**
 * Sends a request over an idle connection, or over a new one if there is none. After a failure of an idle connection it
 * is retried only as {@linkcode mayResend} allows. Every other failure is thrown.
 *
 * @param use Receives the response and returns the result.
 * @throws {ConnectionError} And what `use` throws.
 */
export async function exchangeOver<T>(
  source: ConnectionSource,
  request: WireRequest,
  clock: Clock,
  use: (exchanged: Exchanged) => T,
): Promise<T> {
  let mayTake = !request.freshConnection;
  // Ends with the idle connections: after each failure there is one fewer, and a new one is tried once.
  for (;;) {
    const verified = mayTake ? source.verified() : null;
    if (verified !== null) await verified;
    const kept = mayTake ? source.take() : null;
    const connection = kept ?? await source.open();
    source.onConnection(connection);
    const sentAt = clock.now();
    let received: ReceivedHead;
    try {
      received = await connection.exchange(request);
    } catch (error) {
      connection.close();
      if (kept === null || !mayResend(error, request, clock.now() - sentAt)) throw error;
      // Other idle connections may fail in the same way. Once a byte was sent there is one more attempt only.
      mayTake = error.progress === "unsent";
      continue;
    }
    return use({ connection, head: received.head, decoder: received.decoder, early: received.early });
  }
}

/**
 * Whether a request may be retried after its idle connection failed. It may if no byte of it was written. Otherwise it
 * must be repeatable (RFC 9110, 9.2.2), and the connection must have closed at once and without a response. A vendor
 * may have started any other request and would charge it twice.
 */
function mayResend(error: unknown, request: WireRequest, elapsedMs: number): error is ConnectionError {
  if (!(error instanceof ConnectionError) || error.kind !== "closed") return false;
  if (error.progress === "unsent") return true;
  const { isRepeatable = request.method === "GET" || request.method === "HEAD" } = request;
  return isRepeatable && error.progress === "sent" && elapsedMs <= MAX_STALE_MS;
}
