import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { serialize } from "node:v8";
import { encodeKey } from "../key_encoding.ts";
import { isExpired, type StoredBalance, type StoredLedgerTuple, type StoredValue } from "../kv/commit_transaction.ts";
import { type JobRecord, keyOfKv } from "../kv/keys.ts";
import type { Key } from "../store.ts";

/** A row on its way from one engine to the other. */
export interface CopiedRow {
  /** What {@linkcode CopiedTable.insert} takes. Keys and values are base64. */
  readonly columns: readonly (string | number | boolean | null)[];
  /** The whole row as text, as the database writes it with {@linkcode CopiedTable.line}. */
  readonly line: string;
}

/** A table of PostgreSQL and the part of the Deno KV file that it has. */
export interface CopiedTable {
  /** What a row is, in the plural, for messages. */
  readonly rows: string;
  /** The name in the schema `switchyard`. */
  readonly table: string;
  /** The first part of the keys in the file. */
  readonly area: "value" | "operation" | "balance" | "line" | "job";
  /** A statement that inserts rows: `$1` is a JSON list of their columns. */
  readonly insert: string;
  /** SQL of the text of a row `t`. */
  readonly line: string;
  /** SQL of the rows `t` that only change when the store is used: not those that expire. */
  readonly lasting: string;
  /** The row of an entry of the file; null for one that has expired at `now`. */
  rowOf(key: Key, value: unknown, now: number): CopiedRow | null;
}

const FROM_ROWS = "from jsonb_array_elements($1::text::jsonb) x";

/** All tables, in the order in which they are copied. The rate limits of the last seconds are not copied. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  {
    rows: "values",
    table: "value",
    area: "value",
    insert: `insert into switchyard.value (key, value, version, expires_at)
      select decode(x->>0, 'base64'), decode(x->>1, 'base64'), nextval('switchyard.version'),
        (x->>2)::double precision ${FROM_ROWS}`,
    line: `encode(t.key, 'hex') || ' ' || encode(sha256(t.value), 'hex') || ' ' || ${double("t.expires_at")}`,
    lasting: "t.expires_at is null",
    rowOf([, ...key], stored, now) {
      const [value, expiresAt = null] = stored as StoredValue;
      if (isExpired(stored as StoredValue, now)) return null;
      const [name, bytes] = [bytesOfKey(key), serialize(value)];
      return {
        columns: [name.toString("base64"), base64(bytes), expiresAt],
        line: `${name.toString("hex")} ${sha256(bytes)} ${doubleText(expiresAt)}`,
      };
    },
  },
  {
    rows: "names of operations",
    table: "operation",
    area: "operation",
    insert: `insert into switchyard.operation (name, expires_at)
      select decode(x->>0, 'base64'), (x->>1)::double precision ${FROM_ROWS}`,
    line: `encode(t.name, 'hex') || ' ' || ${double("t.expires_at")}`,
    lasting: "false",
    rowOf([, name = ""], value, now) {
      const expiresAt = value as number;
      if (expiresAt <= now) return null;
      const bytes = bytesOfKey([name]);
      return {
        columns: [bytes.toString("base64"), expiresAt],
        line: `${bytes.toString("hex")} ${doubleText(expiresAt)}`,
      };
    },
  },
  {
    rows: "balances",
    table: "account",
    area: "balance",
    insert: `insert into switchyard.account (name, available, held, entries, overdraft)
      select decode(x->>0, 'base64'), (x->>1)::numeric, (x->>2)::numeric, (x->>3)::bigint, (x->>4)::numeric
      ${FROM_ROWS}`,
    line: "encode(t.name, 'hex') || ' ' || t.available || ' ' || t.held || ' ' || t.entries || ' ' || t.overdraft",
    lasting: "true",
    rowOf([, account = ""], value) {
      const [available, held, entries, overdraft = 0n] = value as StoredBalance;
      const name = bytesOfKey([account]);
      return {
        columns: [name.toString("base64"), String(available), String(held), entries, String(overdraft)],
        line: `${name.toString("hex")} ${available} ${held} ${entries} ${overdraft}`,
      };
    },
  },
  {
    rows: "ledger entries",
    table: "ledger",
    area: "line",
    insert: `insert into switchyard.ledger (account, id, reference, available, held, at, detail)
      select decode(x->>0, 'base64'), x->>1, decode(x->>2, 'base64'), (x->>3)::numeric, (x->>4)::numeric,
        (x->>5)::double precision, decode(x->>6, 'base64') ${FROM_ROWS}`,
    line: `encode(t.account, 'hex') || ' ' || t.id || ' ' || encode(t.reference, 'hex') || ' ' || t.available || ' ' ||
      t.held || ' ' || ${double("t.at")} || ' ' || coalesce(encode(sha256(t.detail), 'hex'), '')`,
    lasting: "true",
    rowOf([, account = "", id = ""], value) {
      const [operation, of, available, held, at, detail] = value as StoredLedgerTuple;
      const [name, reference] = [bytesOfKey([account]), bytesOfKey([operation, of])];
      const bytes = detail === undefined ? null : serialize(detail);
      return {
        columns: [
          name.toString("base64"),
          id,
          reference.toString("base64"),
          String(available),
          String(held),
          at,
          bytes && base64(bytes),
        ],
        line: `${name.toString("hex")} ${id} ${reference.toString("hex")} ${available} ${held} ${doubleText(at)} ` +
          (bytes === null ? "" : sha256(bytes)),
      };
    },
  },
  {
    rows: "jobs",
    table: "job",
    area: "job",
    insert: `insert into switchyard.job (name, kind, id, epoch, attempt, due_at, leased)
      select decode(x->>0, 'base64'), decode(x->>1, 'base64'), x->>2, (x->>3)::bigint, (x->>4)::bigint,
        (x->>5)::double precision, (x->>6)::boolean ${FROM_ROWS}`,
    line: `encode(t.name, 'hex') || ' ' || t.id || ' ' || t.epoch || ' ' || t.attempt || ' ' || ${double("t.due_at")}
      || ' ' || t.leased`,
    lasting: "true",
    rowOf([, kind = "", ref = ""], value, now) {
      const { id, epoch, attempt, dueAt, generation } = value as JobRecord;
      // The process that held the lease has ended, so the job can be claimed at once.
      const isLeased = generation !== 0;
      const freeAt = isLeased ? Math.min(dueAt, now) : dueAt;
      const name = bytesOfKey([kind, ref]);
      return {
        columns: [name.toString("base64"), base64(bytesOfKey([kind])), id, epoch, attempt, freeAt, isLeased],
        line: `${name.toString("hex")} ${id} ${epoch} ${attempt} ${doubleText(freeAt)} ${isLeased}`,
      };
    },
  },
];

/** The rows of a table in the file that have not expired at `now`. */
export async function* rowsIn(kv: Deno.Kv, { area, rowOf }: CopiedTable, now: number): AsyncGenerator<CopiedRow> {
  for await (const { key, value } of kv.list({ prefix: [area] }, { batchSize: LIST_BATCH })) {
    const row = rowOf(keyOfKv(key), value, now);
    if (row !== null) yield row;
  }
}

const LIST_BATCH = 100;

/** The number and the content of rows in any order: equal tables have equal fingerprints. */
export interface Fingerprint {
  readonly count: number;
  /** The sum of the first 60 bits of the SHA-256 of each line, in decimal. */
  readonly sum: string;
}

/** Adds rows up to a {@linkcode Fingerprint}. */
export class FingerprintSum {
  #count = 0;
  #sum = 0n;

  /** Adds the line of one row. */
  add(line: string): void {
    this.#count++;
    this.#sum += BigInt(`0x${sha256(line).slice(0, 15)}`);
  }

  /** The number of rows so far. */
  get count(): number {
    return this.#count;
  }

  /** Of the rows so far. */
  get fingerprint(): Fingerprint {
    return { count: this.#count, sum: String(this.#sum) };
  }
}

/** The SQL that reads the {@linkcode Fingerprint} of the rows of a table that meet a condition. */
export function fingerprintQuery({ table, line }: CopiedTable, condition: string): string {
  return `select count(*)::float8 as count, coalesce(sum(
      ('x' || substr(encode(sha256(convert_to(${line}, 'UTF8')), 'hex'), 1, 15))::bit(60)::bigint
    ), 0)::text as sum from switchyard.${table} t where ${condition}`;
}

/** SQL of the bytes of a double as text; empty for null. Its decimal text would depend on the writer. */
function double(column: string): string {
  return `coalesce(encode(float8send(${column}), 'hex'), '')`;
}

function doubleText(number: number | null): string {
  if (number === null) return "";
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(number);
  return bytes.toString("hex");
}

function bytesOfKey(key: Key): Buffer {
  return Buffer.from(encodeKey(key), "latin1");
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
