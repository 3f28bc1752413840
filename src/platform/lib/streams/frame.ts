/** One frame of a server-sent event stream: its event name, if any, and its data (WHATWG HTML, 9.2). */
export interface Frame {
  /** The `event` field; null when the frame has none. */
  readonly event: string | null;
  /** The `data` field, such as a JSON text or `[DONE]`. Several `data` lines are joined by line feeds. */
  readonly data: string;
}
