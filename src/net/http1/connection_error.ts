/**
 * What went wrong on a connection. `connect`: no connection was made; `closed`: it ended early; `cancelled`: by us;
 * `protocol`: the response is not valid HTTP/1.1; `body`: our own request body could not be read, or had another length
 * than it declared.
 */
export type ConnectionFailure = "connect" | "closed" | "cancelled" | "protocol" | "body";

/**
 * How far an exchange came. `unsent`: no byte of the request was written, so the server cannot have begun; `sent`: some
 * byte may have been written; `answered`: some byte of the response was read.
 */
export type ExchangeProgress = "unsent" | "sent" | "answered";

/** A failure of a connection, with the facts that decide whether a request may be sent again. */
export class ConnectionError extends Error {
  /** What stack traces call it. */
  override readonly name = "ConnectionError";

  /**
   * A failure with what is known of the exchange.
   *
   * @param message What happened, without anything that was sent or received.
   * @param kind The word to decide by.
   * @param progress How far the exchange came.
   * @param cause What was thrown below, if anything.
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
