/**
 * The type of failure. `connect`: no connection was made. `closed`: it ended early. `cancelled`: the gateway cancelled
 * it. `protocol`: the response is not valid HTTP/1.1. `body`: the request's body could not be read or did not have its
 * declared length.
 */
export type ConnectionFailure = "connect" | "closed" | "cancelled" | "protocol" | "body";

/**
 * The progress of an exchange. `unsent`: no byte of the request was written, so the server cannot have started. `sent`:
 * some bytes may have been written. `answered`: some bytes of the response were read.
 */
export type ExchangeProgress = "unsent" | "sent" | "answered";

/** A connection failure, with the facts that decide whether a request may be retried. */
export class ConnectionError extends Error {
  /** The name in stack traces. */
  override readonly name = "ConnectionError";

  /**
   * Creates the error.
   *
   * @param message What happened, without any data that was sent or received.
   * @param kind The code to branch on.
   * @param progress How far the exchange came.
   * @param cause The underlying error, if any.
   */
  constructor(
    message: string,
    readonly kind: ConnectionFailure,
    readonly progress: ExchangeProgress,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/**
 * Whether an error of a socket's function is a mistake of the gateway, such as a wrong argument or a missing
 * permission, and no report of the network. It is thrown as it is, since no vendor has caused it.
 */
export function isOwnMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError ||
    error instanceof Deno.errors.NotCapable;
}
