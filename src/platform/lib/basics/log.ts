/** The log levels, from the most to the least verbose. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * What a log line may say: ids, sizes, counts, words and spans. There is no field for a body, a prompt, an output,
 * a key or a URL with its query, so that none can be written by accident. An undefined field is left out.
 */
export interface LogFields {
  /** The id that the caller receives as `X-Service-Request-Id`. */
  readonly requestId?: string | undefined;
  /** The trace of the request: 32 hexadecimal digits. Only while tracing is on. */
  readonly traceId?: string | undefined;
  /** The account that is charged. */
  readonly accountId?: string | undefined;
  /** The public id of the API key, never the key. */
  readonly keyId?: string | undefined;
  /** The model, by its name in the catalog or at the vendor. */
  readonly model?: string | undefined;
  /** The provider by its configured name. */
  readonly provider?: string | undefined;
  /** The caller's protocol: `default`, `message`, `content` or `admin`. */
  readonly protocol?: string | undefined;
  /** The HTTP method. */
  readonly method?: string | undefined;
  /** The path of a request without its query, or the path of a file or folder of the gateway. */
  readonly path?: string | undefined;
  /** Host and port of the gateway or of a peer. */
  readonly address?: string | undefined;
  /** An HTTP status: of the gateway's response, or of the vendor's or receiver's response that the event describes. */
  readonly status?: number | undefined;
  /** The code of a failure. */
  readonly code?: string | undefined;
  /** The reason in plain words, or an error's class and message; free of secrets. */
  readonly reason?: string | undefined;
  /** The duration of the logged operation. */
  readonly durationMs?: number | undefined;
  /** The time from the arrival of a request to the head of its response. A stream continues afterwards. */
  readonly firstByteMs?: number | undefined;
  /** The number of the attempt. */
  readonly attempt?: number | undefined;
  /** The number of items that the event concerns. */
  readonly count?: number | undefined;
  /** A size in bytes. */
  readonly bytes?: number | undefined;
  /** All tokens of the prompt. */
  readonly inputTokens?: number | undefined;
  /** All generated tokens, including reasoning. */
  readonly outputTokens?: number | undefined;
  /** Decimal USD. */
  readonly cost?: string | undefined;
  /** The type of the call: `text`, `image` or `cache`. */
  readonly kind?: string | undefined;
  /** The `kind` of a job in the store. */
  readonly jobKind?: string | undefined;
  /** The id of the subject: a task, a cache, a delivery, or the `ref` of a job. */
  readonly ref?: string | undefined;
  /** The current state of the subject. */
  readonly state?: string | undefined;
  /** The path of a field in a request, without indexes and values. */
  readonly field?: string | undefined;
  /** Lines for the configuration file that solve the problem. */
  readonly setting?: string | undefined;
  /** The signal that the process received, such as `SIGTERM`. */
  readonly signal?: string | undefined;
}

/** Writes log lines. An event's name never changes. */
export interface Log {
  /** For debugging only. */
  debug(event: string, fields?: LogFields): void;
  /** Normal operation. */
  info(event: string, fields?: LogFields): void;
  /** A problem that was handled, will be retried, or may cause a failure later. */
  warn(event: string, fields?: LogFields): void;
  /** A permanent failure that an operator should look at. */
  error(event: string, fields?: LogFields): void;
  /** As {@linkcode Log.info}, for lines whose fields another thread has written as JSON. Default: see `logWritten`. */
  infoWritten?(event: string, fields: readonly string[]): void;
}

/** Logs lines at the level `info` whose fields are written as JSON already. */
export function logWritten(log: Log, event: string, fields: readonly string[]): void {
  if (log.infoWritten !== undefined) return log.infoWritten(event, fields);
  for (const text of fields) log.info(event, JSON.parse(text));
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** A log whose level can be changed. */
export interface LeveledLog extends Log {
  /** The lowest level that is written. */
  level: LogLevel;
}

/**
 * Creates a log of JSON lines: `{"time":…,"level":…,"event":…,…fields}`. JSON escapes control characters, so a value
 * cannot start a line of its own.
 *
 * @param level The lowest level that is written.
 * @param write Receives one line without its line end, and its level.
 * @param now Unix milliseconds.
 */
export function jsonLog(
  level: LogLevel,
  write: (line: string, level: LogLevel) => void,
  now: () => number = Date.now,
): LeveledLog {
  let least = LEVELS.indexOf(level);
  const timestampOf = timestamps();
  const at = (own: LogLevel) => {
    const rank = LEVELS.indexOf(own);
    return (event: string, fields: LogFields = {}) => {
      if (rank < least) return;
      // A line is joined from two parts, since an object of both costs three times as much.
      writeLine(own, event, JSON.stringify(fields));
    };
  };
  const writeLine = (own: LogLevel, event: string, fields: string) => {
    const head = `{"time":"${timestampOf(now())}","level":"${own}","event":${JSON.stringify(event)}`;
    write(fields === "{}" ? `${head}}` : `${head},${fields.slice(1)}`, own);
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    infoWritten(event, fields) {
      if (LEVELS.indexOf("info") < least) return;
      for (const text of fields) writeLine("info", event, text);
    },
    get level() {
      return LEVELS[least] ?? level;
    },
    set level(lowest) {
      least = LEVELS.indexOf(lowest);
    },
  };
}

/** Creates a function that writes Unix milliseconds as a timestamp. Lines of one millisecond share it. */
function timestamps(): (ms: number) => string {
  let lastMs = NaN;
  let last = "";
  return (ms) => {
    if (ms !== lastMs) last = new Date(lastMs = ms).toISOString();
    return last;
  };
}

/**
 * The line that reports dropped log lines of any level: `log_lines_dropped` with their count.
 *
 * @param now Unix milliseconds.
 */
export function droppedLogLine(count: number, now: number = Date.now()): string {
  const fields: LogFields = { count, reason: "the reader of the log was too slow, or a write failed" };
  return JSON.stringify({ time: new Date(now).toISOString(), level: "warn", event: "log_lines_dropped", ...fields });
}

/** A log that discards everything, for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** What a log says of an error that may quote secrets in its message: its class; of another value its type. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
