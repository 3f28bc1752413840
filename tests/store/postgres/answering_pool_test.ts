import { assertEquals, assertRejects } from "@std/assert";
import { Socket } from "node:net";
import postgres from "postgres";
import { answeringPool, LOST_STATEMENT } from "../../../src/platform/store/postgres/answering_pool.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("answering pool: the server is stopped", () => server.stop());
}

/** A pool of one connection, and the socket of the current one. */
function stage(server: PostgresServer, deadlineMs: number) {
  const current: { socket: Socket | null } = { socket: null };
  const connecting = {
    // The types of the client leave this option out.
    socket: ({ host, port }: { readonly host: readonly string[]; readonly port: readonly number[] }) => {
      current.socket = new Socket();
      return current.socket.connect(port[0] ?? 0, host[0] ?? "");
    },
  };
  const open = () =>
    postgres(server.url("postgres"), { max: 1, fetch_types: false, onnotice: () => {}, ...connecting });
  return { current, sql: answeringPool(open, deadlineMs) };
}

/** A failure of a connection whose end comes later, as the runtime reports a write to a connection that has ended. */
async function failAround(socket: Socket | null, between: () => void): Promise<void> {
  socket?.removeAllListeners("data"); // nothing is answered any more
  socket?.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  between();
  await new Promise((resolve) => setTimeout(resolve, 0));
  socket?.emit("close", true);
  socket?.destroy();
}

function registerTests(server: PostgresServer): void {
  Deno.test("answering pool: a statement that the client lost is rejected, and later ones are answered", async () => {
    const { current, sql } = stage(server, 500);
    assertEquals([...await sql`select 1 as a`], [{ a: 1 }]);
    let lost: Promise<unknown> = Promise.resolve();
    await failAround(current.socket, () => {
      lost = assertRejects(async () => void await sql`select 2 as a`, Error, "no connection answered");
    });
    const error = await lost;
    assertEquals(error instanceof Error && "code" in error && error.code, LOST_STATEMENT);
    assertEquals([...await sql`select ${3}::int as a`], [{ a: 3 }]);
    assertEquals([...await sql.unsafe("select 4 as a")], [{ a: 4 }]);
    await sql.end({ timeout: 1 });
  });

  Deno.test("answering pool: a statement on a reserved connection that has ended is rejected", async () => {
    const { sql } = stage(server, 500);
    const connection = await sql.reserve();
    const [own] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await server.run(`select pg_terminate_backend(${own?.pid}, 10000)`);
    await assertRejects(async () => void await connection`select 1 as a`);
    await assertRejects(async () => void await connection`select 2 as a`);
    connection.release();
    assertEquals([...await sql`select 3 as a`], [{ a: 3 }]);
    await sql.end({ timeout: 1 });
  });

  Deno.test("answering pool: a statement that runs or waits for a connection is not lost", async () => {
    const { sql } = stage(server, 1_500);
    const both = [sql`select pg_sleep(1.2), 1 as a`, sql`select pg_sleep(0.1), 2 as a`];
    assertEquals((await Promise.all(both)).map((rows) => rows[0]?.a), [1, 2]);
    await sql.end({ timeout: 1 });
  });

  Deno.test("answering pool: parts of statements, transactions and listeners are those of the client", async () => {
    const { sql } = stage(server, 5_000);
    const part = sql`1 as a`;
    assertEquals([...await sql`select ${part}`], [{ a: 1 }]);
    assertEquals([...await sql.begin((own) => own`select 2 as a`)], [{ a: 2 }]);
    const heard = Promise.withResolvers<string>();
    await sql.listen("channel", heard.resolve);
    await sql`select pg_notify('channel', 'hello')`;
    assertEquals(await heard.promise, "hello");
    await sql.end({ timeout: 1 });
  });
}
