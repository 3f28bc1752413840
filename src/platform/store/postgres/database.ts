import { Buffer } from "node:buffer";
import { isIP } from "node:net";
import postgres from "postgres";
import { StoreReadError } from "../store_errors.ts";
import { StoreUnusableError } from "../store_unusable_error.ts";
import { answeringPool } from "./answering_pool.ts";

/** A pool of connections. */
export type Database = postgres.Sql;

/** What {@linkcode connect} needs. */
export interface ConnectOptions {
  /** `postgres://user:password@host/database` with `sslmode` and other parameters. */
  readonly url: string;
  /** The most connections; one more listens. */
  readonly maxConnections: number;
  /** The limit of one statement. A migration has none. */
  readonly statementTimeoutMs: number;
  /** The schema of names without one. Default: the server's. */
  readonly schema?: string;
  /** How long a new connection may take, in milliseconds. Default: five seconds. */
  readonly connectTimeoutMs?: number;
  /** Whether connections are kept until they break, for locks. Default false: each is replaced after about an hour. */
  readonly isLasting?: boolean;
}

/** How long a new connection may take. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** The part of the time of a statement for which it waits for a lock. */
const LOCK_PART = 0.8;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/** A statement counts as lost so much later than its time limit: others before it on its connection delay it. */
const ANSWER_MARGIN_MS = 15_000;

/**
 * Makes a pool. It connects with the first statement, and again after a connection was lost. Each statement with a
 * limit ends.
 */
export function connect(options: ConnectOptions): Database {
  const open = () => openPool(options);
  return options.statementTimeoutMs === 0 ? open() : answeringPool(open, options.statementTimeoutMs + ANSWER_MARGIN_MS);
}

function openPool(options: ConnectOptions): Database {
  const { url, maxConnections, statementTimeoutMs, schema, isLasting = false } = options;
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return postgres(url, {
    max: maxConnections,
    ...verifiedAddress(url),
    ...namedDatabase(url),
    ...isLasting && { max_lifetime: null },
    connect_timeout: connectTimeoutMs / 1000,
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    onnotice: () => {},
    fetch_types: false, // a connection that breaks while they are read would reject a promise that no one holds
    connection: {
      application_name: "switchyard",
      ...(schema !== undefined && { search_path: schema }),
      statement_timeout: statementTimeoutMs,
      lock_timeout: lockTimeoutOf(statementTimeoutMs),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      default_transaction_isolation: "read committed",
      // A gateway whose machine failed loses its connections, and their locks, within half a minute.
      tcp_keepalives_idle: 10,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
      // Every statement reads few rows by an index. A plan from when a table was small would read it whole.
      enable_seqscan: "off",
      enable_hashjoin: "off",
      enable_mergejoin: "off",
      jit: "off",
    },
  });
}

/** How long a statement waits for a lock, in milliseconds; 0, for no limit, if it has none itself. */
export function lockTimeoutOf(statementTimeoutMs: number): number {
  return statementTimeoutMs * LOCK_PART;
}

/**
 * The options that check the certificate of a server whose address is an IP address. The client passes none as the name
 * to check, so that the certificate would have to be one for `localhost`.
 */
function verifiedAddress(url: string): { readonly ssl?: { readonly host: string } } {
  if (!URL.canParse(url)) return {};
  const { hostname, searchParams } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const isVerified = ["verify-full", "verify-ca"].includes(searchParams.get("sslmode") ?? "");
  return isVerified && isIP(host) !== 0 ? { ssl: { host } } : {};
}

/** The name of the database, decoded: the client decodes the user and the password only. */
function namedDatabase(url: string): { readonly database?: string } {
  if (!URL.canParse(url)) return {};
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  return name === "" ? {} : { database: name };
}

/** `user@host:port/database` of an address, for messages: without the password and the parameters. */
export function placeOf(url: string): string {
  try {
    const { username, host, pathname } = new URL(url);
    return `${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    return "the database";
  }
}

const MIN_SERVER_VERSION = 150_000;

/** What to do, by the code of the failure. Source: PostgreSQL, "Error Codes"; Node, "Common system errors". */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "start the database, or correct its host and port"],
  ["ENOTFOUND", "correct the host name"],
  ["EAI_AGAIN", "correct the host name, or the DNS of this machine"],
  ["CONNECT_TIMEOUT", "correct its host and port, or let a firewall pass the connection"],
  ["28P01", "correct the user or the password"],
  ["28000", "let pg_hba.conf admit this user and address, or correct sslmode"],
  ["3D000", "create the database, or correct its name"],
]);

/**
 * Checks that the server answers and is recent enough.
 *
 * @throws {StoreUnusableError} With the reason, without credentials.
 */
export async function checkServer(sql: Database, place: string): Promise<void> {
  const version = await serverVersionOf(sql).catch((error) => {
    const advice = ADVICE.get(codeOf(error));
    const reason = advice === undefined ? reasonOf(error) : `${reasonOf(error)}; ${advice}`;
    throw new StoreUnusableError(`Cannot use the store at ${place} (setting "store"): ${reason}`, codeOf(error));
  });
  if (version < MIN_SERVER_VERSION) {
    throw new StoreUnusableError(
      `Cannot use the store at ${place} (setting "store"): it is PostgreSQL ${
        Math.floor(version / 10_000)
      }, expected 15 or later`,
    );
  }
}

async function serverVersionOf(sql: Database): Promise<number> {
  const [row] = await sql`select current_setting('server_version_num')::int as version`;
  return Number(row?.version);
}

/** The message of an error of the database. The error itself can hold stored values and is not passed on. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errors = error instanceof AggregateError ? error.errors : [error];
  return errors.map((each) => each instanceof Error ? each.message : String(each)).join(", ");
}

/** The code of an error: an SQLSTATE, or one of the system or the client such as `CONNECTION_CLOSED`. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]); // one for each address of a host name
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

const MAX_ATTEMPTS = 5;
/** A serialization failure and a deadlock: the transaction was rolled back and may be repeated. */
const REPEATABLE = new Set(["40001", "40P01"]);

/** Runs a transaction again, up to four times, after a conflict with another one. */
export async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !REPEATABLE.has(codeOf(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** attempt));
    }
  }
}

/** Errors after which a read is tried again, on another connection: the connection was lost, or the server restarts. */
const LOST =
  /^(CONNECTION_LOST|CONNECTION_CLOSED|CONNECTION_ENDED|CONNECTION_DESTROYED|ECONNRESET|EPIPE|57P01|57P02|57P03)$/;

/** Whether an error means that a connection was lost. What its statement did is unknown. */
export function isLost(error: unknown): boolean {
  return LOST.test(codeOf(error));
}

/** Errors of a server that cannot be reached, starts, stops, has no connection left or took too long. */
const UNAVAILABLE = /^(CONNECTION_|CONNECT_TIMEOUT|E[A-Z]+$|08|53|57|55P03)/;

/** Whether the same statement can succeed later. What it did is unknown if its connection was lost. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(codeOf(error));
}

/**
 * Runs a statement that changes nothing, and once again if its connection was lost.
 *
 * @throws {StoreReadError} If the server cannot answer now; as a rejection.
 * @throws {Error} For every other error, with its message alone; as a rejection.
 */
export async function read<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isLost(error)) throw withoutValues(error);
    return await run().catch((again) => {
      throw withoutValues(again);
    });
  }
}

/** An error with the message alone, since the error of the database can hold stored values. */
function withoutValues(error: unknown): Error {
  const reason = reasonOf(error);
  return isUnavailable(error) ? new StoreReadError(reason) : new Error(`The database refused a statement: ${reason}`);
}

/** The bytes of an encoded key. */
export function bytesOf(encoded: string): Uint8Array {
  return Buffer.from(encoded, "latin1");
}

/** The encoded key of bytes. */
export function encodedOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** Encoded keys as the text of a `bytea[]`. */
export function byteArrayOf(encoded: readonly string[]): string {
  return `{${encoded.map((one) => `"\\\\x${Buffer.from(one, "latin1").toString("hex")}"`).join(",")}}`;
}
