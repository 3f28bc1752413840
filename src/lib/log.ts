/** How much is written: each level includes those after it. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * What a log line may say: ids, sizes, counts, words and spans. There is no field for a body, a prompt, an output,
 * a key or a URL with its query, so that none can be written by accident. An undefined field is left out.
 */
export interface LogFields {
  /** As the caller got it in `X-Service-Request-Id`. */
  readonly requestId?: string | undefined;
  /** The account that pays. */
  readonly accountId?: string | undefined;
  /** The public id of the API key, never the key. */
  readonly keyId?: string | undefined;
  /** The model, by the catalog's name or the vendor's. */
  readonly model?: string | undefined;
  /** The provider by its configured name. */
  readonly provider?: string | undefined;
  /** Which protocol the caller speaks: `default`, `message`, `content` or `admin`. */
  readonly protocol?: string | undefined;
  /** The HTTP method. */
  readonly method?: string | undefined;
  /** The path of a request without its query, or of a file or folder of the gateway's own. */
  readonly path?: string | undefined;
  /** Host and port of our own end, or of a peer. */
  readonly address?: string | undefined;
  /** An HTTP status: our answer's, or that of the vendor or receiver that the event is about. */
  readonly status?: number | undefined;
  /** The machine word of a failure. */
  readonly code?: string | undefined;
  /** Why, in our own words or an error's class and message, already free of secrets. */
  readonly reason?: string | undefined;
  /** How long what the event tells took. */
  readonly durationMs?: number | undefined;
  /** From the coming of a request to the head of its answer, behind which a stream goes on for as long as it takes. */
  readonly firstByteMs?: number | undefined;
  /** Which try it was. */
  readonly attempt?: number | undefined;
  /** How many things the event is about. */
  readonly count?: number | undefined;
  /** A size in bytes. */
  readonly bytes?: number | undefined;
  /** All tokens on the prompt side. */
  readonly inputTokens?: number | undefined;
  /** All tokens that were made, reasoning included. */
  readonly outputTokens?: number | undefined;
  /** Decimal USD. */
  readonly cost?: string | undefined;
  /** What kind of work a call is: `text`, `image` or `cache`. */
  readonly kind?: string | undefined;
  /** The `kind` of a job in the store. */
  readonly jobKind?: string | undefined;
  /** What the event is about, by id: a task, a cache, a delivery, the `ref` of a job. */
  readonly ref?: string | undefined;
  /** Where that stands now, in a word. */
  readonly state?: string | undefined;
  /** The signal that the process was sent, such as `SIGTERM`. */
  readonly signal?: string | undefined;
}

/** The one way to log: an event's name, which never changes, and its fields. */
export interface Log {
  /** Steps that only the search for a fault needs. */
  debug(event: string, fields?: LogFields): void;
  /** What went as it should. */
  info(event: string, fields?: LogFields): void;
  /** What went wrong and was mended, will be tried again, or may hurt later. */
  warn(event: string, fields?: LogFields): void;
  /** What went wrong for good and that an operator should look at. */
  error(event: string, fields?: LogFields): void;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * A log of JSON lines: `{"time":…,"level":…,"event":…,…fields}`. Control characters are escaped by JSON, so a value
 * can never start a line of its own.
 *
 * @param level The least level that is written.
 * @param write Takes one line without its end, and the level it is of.
 * @param now Unix milliseconds.
 */
export function jsonLog(
  level: LogLevel,
  write: (line: string, level: LogLevel) => void,
  now: () => number = Date.now,
): Log {
  const least = LEVELS.indexOf(level);
  const at = (own: LogLevel) =>
    LEVELS.indexOf(own) < least
      ? () => {}
      : (event: string, fields: LogFields = {}) =>
        write(JSON.stringify({ time: new Date(now()).toISOString(), level: own, event, ...fields }), own);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/**
 * The line that stands for log lines that could not be written, of whatever level: `log_lines_dropped` with their
 * count.
 *
 * @param now Unix milliseconds.
 */
export function droppedLogLine(count: number, now: number = Date.now()): string {
  const fields: LogFields = { count, reason: "nobody read the log fast enough, or it could not be written" };
  return JSON.stringify({ time: new Date(now).toISOString(), level: "warn", event: "log_lines_dropped", ...fields });
}

/** A log that writes nothing, for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
