import { assertEquals } from "@std/assert";
import { ConsoleBrowser } from "../../console/browser.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";
import { overDatabase } from "./nodes.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("sign-ins at two gateways: the server is stopped", () => server.stop());
}

const OWNER = "key-of-the-owner";

function registerTests(postgres: PostgresServer): void {
  overDatabase(postgres, "a sign-in at one gateway is one at the other, and so is the sign-out", async (url) => {
    const files = await Deno.makeTempDir();
    const server = { port: 0, admin_key: OWNER, shutdown_grace: 1, isolates: 2 };
    const start = () => startTestGateway({ store: url, config: { server, files } });
    const gateways = [await start(), await start()] as const;
    const [one, other] = gateways.map(({ app }) => new ConsoleBrowser(app.adminAddress));
    try {
      await one?.signIn(OWNER);
      Object.assign(other ?? {}, { cookie: one?.cookie, token: one?.token });
      const read = () => other?.send("GET", "/console/api/admin/v1/accounts");
      assertEquals((await read())?.status, 200);
      await gateways[0].stop();
      assertEquals((await read())?.status, 200);
      const again = await start();
      await signOutAt(again, one);
      assertEquals((await read())?.status, 401);
      await again.stop();
    } finally {
      await gateways[1].stop();
      await Deno.remove(files, { recursive: true });
    }
  });
}

/** Signs out at a gateway that has not seen the session before. */
async function signOutAt({ app }: TestGateway, { cookie = "", token = "" }: Partial<ConsoleBrowser> = {}) {
  const browser = Object.assign(new ConsoleBrowser(app.adminAddress), { cookie, token });
  assertEquals((await browser.send("DELETE", "/console/session")).status, 200);
}
