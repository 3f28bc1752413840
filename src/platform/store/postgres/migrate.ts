import { StoreUnusableError } from "../store_unusable_error.ts";
import { checkServer, connect, type Database, placeOf, reasonOf } from "./database.ts";
import { MIGRATIONS } from "./migrations.ts";

/** The lock of a migration, among the advisory locks of the database. */
const MIGRATION_LOCK = 1_937_205_601;

/** The versions of the schema before and after a migration. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * The version of a schema in a database; 0 if there is none.
 *
 * @param schema As for {@linkcode applySteps}.
 */
export async function schemaVersion(sql: Database, schema = "switchyard"): Promise<number> {
  const [table] = await sql`select to_regclass(${`${schema}.schema`}) is not null as exists`;
  if (table?.exists !== true) return 0;
  const [row] = await sql`select coalesce(max(version), 0)::int as version from ${sql(`${schema}.schema`)}`;
  return Number(row?.version);
}

/**
 * Runs the steps that are missing, in one transaction.
 *
 * @param schema The schema of the tables; its table `schema` has the versions. Default: that of the store.
 */
export async function applySteps(sql: Database, steps: readonly string[], schema = "switchyard"): Promise<Migrated> {
  return await sql.begin(async (transaction): Promise<Migrated> => {
    const versions = sql(`${schema}.schema`);
    await transaction`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    await transaction`create schema if not exists ${sql(schema)}`;
    await transaction`create table if not exists ${versions} (
      version int primary key, applied_at timestamptz not null default now()
    )`;
    const [row] = await transaction`select coalesce(max(version), 0)::int as version from ${versions}`;
    const from = Number(row?.version);
    for (let version = from + 1; version <= steps.length; version++) {
      await transaction.unsafe(steps[version - 1] ?? "");
      await transaction`insert into ${versions} (version) values (${version})`;
    }
    return { from, to: Math.max(from, steps.length) };
  });
}

/**
 * Brings the schema of an open database up to date if the database is empty, and checks it otherwise.
 *
 * @param steps Tests give others.
 * @throws {StoreUnusableError} If the schema is older, or newer by more than one step.
 */
export async function prepareSchema(sql: Database, place: string, steps = MIGRATIONS): Promise<void> {
  const found = await schemaVersion(sql);
  if (found === 0) {
    await applySteps(sql, steps).catch((error) => {
      throw new StoreUnusableError(`Cannot create the tables of the store at ${place}: ${reasonOf(error)}`);
    });
    return;
  }
  if (found < steps.length) {
    throw new StoreUnusableError(
      `Cannot use the store at ${place}: its schema is ${found}, expected ${steps.length}; ` +
        `"switchyard store migrate" adds what is missing`,
    );
  }
  if (found > steps.length + 1) {
    throw new StoreUnusableError(
      `Cannot use the store at ${place}: it is of a newer version: schema ${found}, this one knows ${steps.length}`,
    );
  }
}

/**
 * Adds to the schema of a database what this version needs. Gateways may use the database meanwhile.
 *
 * @param url The address of the database, as in the setting `store`.
 * @param steps Tests give others.
 * @throws {StoreUnusableError} If the server cannot be used, or the schema is of a newer version.
 */
export async function migrateDatabase(url: string, steps = MIGRATIONS): Promise<Migrated> {
  const place = placeOf(url);
  const sql = connect({ url, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    await checkServer(sql, place);
    const migrated = await applySteps(sql, steps).catch((error) => {
      throw new StoreUnusableError(`Cannot migrate the store at ${place}: ${reasonOf(error)}`);
    });
    if (migrated.from > steps.length + 1) await prepareSchema(sql, place, steps);
    return migrated;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
