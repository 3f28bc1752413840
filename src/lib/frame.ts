/** One frame of a server-sent event stream: its event name, if any, and its data on one line (WHATWG HTML, 9.2). */
export interface Frame {
  readonly event: string | null;
  readonly data: string;
}
