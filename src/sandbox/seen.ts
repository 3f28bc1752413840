/** A request as the sandbox got it. */
export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON value of the body; its text where it is no JSON, null where it is empty. */
  readonly body: unknown;
  /** True once the client has left before the answer's end. */
  readonly cancelled: boolean;
}

/** An entry that can still learn that its client has left. */
export interface SeenEntry extends SeenRequest {
  cancelled: boolean;
}

const MAX_ENTRIES = 1000;

/** The latest requests, oldest first; earlier ones are forgotten. */
export class SeenLog {
  readonly entries: SeenEntry[] = [];

  add(request: Request, body: unknown): SeenEntry {
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const entry = { method: request.method, path: pathname + search, headers, body, cancelled: false };
    if (this.entries.length === MAX_ENTRIES) this.entries.shift();
    this.entries.push(entry);
    return entry;
  }
}
