import { assertEquals, assertStringIncludes } from "@std/assert";
import { applySteps } from "../../../src/platform/store/postgres/migrate.ts";
import { MIGRATIONS } from "../../../src/platform/store/postgres/migrations.ts";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";

/**
 * What `switchyard dev` of earlier versions wrote to a database, by the version of its schema: three charged chats and
 * one video of the account `demo`.
 */
const SCHEMAS = [1, 2] as const;
const CHARGED = 4;
/** The start of the SHA-256 of each step. */
const DIGESTS = ["6739d5cfb67bcb5c", "702b13f5c8e1b372", "a28ae42da56c1030"];

/** The rows of an old database. */
interface OldRows {
  /** The key of the account. */
  readonly key: string;
  /** In the form of PostgreSQL's `row_to_json`. */
  readonly tables: Readonly<Record<string, readonly unknown[]>>;
  /** The last version of a value. */
  readonly sequence: string;
}

async function readRows(schema: number): Promise<OldRows> {
  const file = await Deno.open(new URL(`./old_databases/schema_${schema}.json.gz`, import.meta.url));
  return await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).json();
}

/** Creates a database as the earlier version left it. */
async function restore(server: PostgresServer, schema: number, { tables, sequence }: OldRows): Promise<string> {
  const name = `schema_${schema}`;
  await server.run(`create database ${name}`);
  await withConnection(server.url(name), async (sql) => {
    await applySteps(sql, MIGRATIONS.slice(0, schema));
    for (const [table, rows] of Object.entries(tables)) {
      await sql.unsafe(`delete from switchyard.${table}`);
      await sql.unsafe(
        `insert into switchyard.${table} select * from json_populate_recordset(null::switchyard.${table}, $1::text::json)`,
        [JSON.stringify(rows)],
      );
    }
    await sql.unsafe(`select setval('switchyard.version', $1)`, [sequence]);
  });
  return server.url(name);
}

if (isPostgresWanted) {
  const server = await startPostgres();

  Deno.test("the steps of released schemas do not change", async () => {
    const digests = await Promise.all(MIGRATIONS.map(async (step) => {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(step));
      return new Uint8Array(digest).toHex().slice(0, 16);
    }));
    // A database that has a step never runs it again. What is needed beside it is a further step.
    assertEquals(digests, DIGESTS);
  });

  for (const schema of SCHEMAS) {
    Deno.test(`a database of schema ${schema} is migrated, and its money, keys and tasks go on`, async () => {
      const rows = await readRows(schema);
      const store = await restore(server, schema, rows);
      const folder = await Deno.makeTempDir();
      await Deno.mkdir(`${folder}/data`);
      await Deno.writeTextFile(`${folder}/data/dev-key`, rows.key, { mode: 0o600 });
      const env = { SWITCHYARD_STORE: store, PORT: "0" };
      const run = async (...args: string[]) => {
        const child = startGatewayProcess({ args, folder, env });
        const { code } = await child.ended;
        return { code, output: child.output(), log: child.log() };
      };

      const refused = await run("dev");
      assertEquals(refused.code === 0, false);
      assertStringIncludes(refused.log, `its schema is ${schema}, expected ${MIGRATIONS.length}`);
      assertStringIncludes(refused.log, "switchyard store migrate");
      const migrated = await run("store", "migrate");
      assertEquals(migrated.code, 0, migrated.log);

      const gateway = startGatewayProcess({ args: ["dev"], folder, env });
      const address = itemAt(await gateway.until(/is ready at (\S+)/), 1);
      const headers = { authorization: `Bearer ${rows.key}`, "content-type": "application/json" };
      const chat = await fetch(`${address}/v1/chat/completions`, {
        method: "POST",
        headers,
        body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "hello" }] }),
      });
      assertEquals(chat.status, 200, await chat.text());
      const { data } = await (await fetch(`${address}/v1/videos`, { headers })).json();
      assertEquals(data.map(({ status }: { status: string }) => status), ["completed"]);
      gateway.kill("SIGTERM");
      assertEquals((await gateway.ended).code, 0, gateway.log());

      assertStringIncludes((await run("ledger", "verify")).output, " 0 differences");
      const usage = JSON.parse((await run("usage", "--format", "json")).output) as { data: { requests: number }[] };
      assertEquals(usage.data.reduce((sum, { requests }) => sum + requests, 0), CHARGED + 1);
      await Deno.remove(folder, { recursive: true });
    });
  }

  Deno.test("old databases: the server is stopped", () => server.stop());
}
