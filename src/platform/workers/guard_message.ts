/** What a thread reports of itself, besides the messages of its work. */
export interface GuardMessage {
  /** `out-of-memory`: its heap was used up. `unhandled`: an error that nothing has handled. */
  readonly guard: "out-of-memory" | "unhandled";
  /** The class and the stack of the error; empty for `out-of-memory`. */
  readonly stack: string;
}

/** Whether a message is a report of {@linkcode guardThread}. */
export function isGuardMessage(message: unknown): message is GuardMessage {
  return typeof message === "object" && message !== null && "guard" in message;
}
