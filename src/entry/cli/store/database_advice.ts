import { join } from "node:path";
import type { Config } from "../../../config/config.ts";
import { shownStore } from "../../../config/tree/store_address.ts";

/** What an operator backs up when the store is a PostgreSQL database, for which the database has better tools. */
export function databaseAdvice({ store, files, bucket, requestLog }: Config): string {
  const lines = [
    `The store is a PostgreSQL database, which has its own tools. Back up these together:`,
    `  database    pg_dump --format=custom --schema="switchyard*" --file=switchyard.dump "${shownStore(store)}"`,
    `              or a base backup with continuous archiving, which loses nothing; pg_restore reads the dump`,
    `  journal     ${files}.charges* on every host: charges of its last moments that are not in the database yet.`,
    "              Copy it before the dump",
    bucket === null
      ? `  files       ${files}: results of videos and media of cached contents`
      : `  files       the bucket, by its own versioning or replication, and ${join(files, "caches")}`,
    requestLog.path === null
      ? "  requests    the log of requests is in the database, schema switchyard_log"
      : `  requests    ${requestLog.path} and ${requestLog.path}.bodies: the log of requests, SQLite files`,
    "  settings    the configuration file and the environment variables that it names",
    'Afterwards "switchyard ledger verify" compares balances with their entries',
  ];
  return lines.join("\n");
}
