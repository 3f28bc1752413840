/** A request that the sandbox received. */
export interface LoggedRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON value of the body. The text if it is not JSON, null if it is empty. */
  readonly body: unknown;
  /** Whether the client disconnected before the end of the response. */
  readonly cancelled: boolean;
}

/** An entry that records a later disconnection of its client. */
export interface LogEntry extends LoggedRequest {
  cancelled: boolean;
}

const MAX_ENTRIES = 1000;

/** The latest requests, oldest first. Earlier ones are removed. */
export class RequestLog {
  readonly entries: LogEntry[] = [];

  add(request: Request, body: unknown): LogEntry {
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const entry = { method: request.method, path: pathname + search, headers, body, cancelled: false };
    if (this.entries.length === MAX_ENTRIES) this.entries.shift();
    this.entries.push(entry);
    return entry;
  }
}
