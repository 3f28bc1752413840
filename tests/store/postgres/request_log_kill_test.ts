import postgres from "postgres";
import { SeededRandom } from "../../e2e/money_walk/random.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";
import { assertRowsSurviveKills } from "../../support/request_log_kills.ts";

/** The environment can set more: each takes some seconds. */
const KILLS = Number(Deno.env.get("SWITCHYARD_TEST_KILLS") ?? "3");
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31));

if (isPostgresWanted) {
  Deno.test(`request log in PostgreSQL: kill -9 at any time under load loses no row of a request acknowledged over a second before (seed ${SEED})`, async () => {
    const server = await startPostgres();
    const folder = await Deno.makeTempDir();
    const store = server.url("postgres");
    const sql = postgres(store, { max: 1 });
    try {
      await assertRowsSurviveKills({
        store,
        folder,
        kills: KILLS,
        random: new SeededRandom(SEED),
        async readIds() {
          const rows = await sql`select request_id from switchyard_log.requests`;
          return new Set(rows.map(({ request_id }) => String(request_id)));
        },
      });
    } finally {
      await sql.end();
      await server.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });
}
