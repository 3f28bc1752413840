/** How much is written: each level includes those after it. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * What a log line may say: ids, sizes, counts, words and spans. There is no field for a body, a prompt, an output,
 * a key or a URL with its query, so that none can be written by accident. Source: `reliability` 2.11.
 */
export interface LogFields {
  readonly requestId?: string;
  readonly accountId?: string;
  readonly keyId?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly protocol?: string;
  readonly method?: string;
  /** The path without its query. */
  readonly path?: string;
  readonly address?: string;
  readonly status?: number;
  readonly code?: string;
  /** Why, in our own words or an error's class and message, already free of secrets. */
  readonly reason?: string;
  readonly durationMs?: number;
  readonly firstByteMs?: number;
  readonly attempt?: number;
  readonly count?: number;
  readonly bytes?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Decimal USD. */
  readonly cost?: string;
  readonly jobKind?: string;
  readonly ref?: string;
  readonly state?: string;
  readonly fields?: string;
  readonly signal?: string;
}

/** The one way to log: an event's name, which never changes, and its fields. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * A log of JSON lines: `{"time":…,"level":…,"event":…,…fields}`. Control characters are escaped by JSON, so a value
 * can never start a line of its own.
 *
 * @param level The least level that is written.
 * @param write Takes one line without its end.
 * @param now Unix milliseconds.
 */
export function jsonLog(level: LogLevel, write: (line: string) => void, now: () => number = Date.now): Log {
  const least = LEVELS.indexOf(level);
  const at = (own: LogLevel) =>
    LEVELS.indexOf(own) < least
      ? () => {}
      : (event: string, fields: LogFields = {}) =>
        write(JSON.stringify({ time: new Date(now()).toISOString(), level: own, event, ...fields }));
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A log that writes nothing, for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
