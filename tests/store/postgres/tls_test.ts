import { assertEquals, assertMatch } from "@std/assert";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY, LOOPBACK_ROOT } from "../../support/loopback_certificate.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";

/** Runs `switchyard store migrate` in a process, which reads its trusted roots when it starts. */
async function migrate(address: string, root: string | null): Promise<{ readonly code: number; readonly log: string }> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/switchyard.yaml`, `store: ${address}\n`);
    if (root !== null) await Deno.writeTextFile(`${folder}/root.pem`, root);
    const child = startGatewayProcess({
      args: ["store", "migrate", "--config", `${folder}/switchyard.yaml`],
      folder,
      ...(root !== null && { env: { DENO_CERT: `${folder}/root.pem` } }),
    });
    return { code: (await child.ended).code, log: child.log() };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (isPostgresWanted) {
  const tls = { certificate: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY };
  const server = await startPostgres(false, tls);
  const verified = `${server.url("postgres")}?sslmode=verify-full`;

  Deno.test("sslmode=verify-full takes a certificate for the address of the server, from a trusted root", async () => {
    assertEquals(await migrate(verified, LOOPBACK_ROOT), { code: 0, log: "" });
  });

  Deno.test("sslmode=verify-full refuses a certificate of an unknown root", async () => {
    const { code, log } = await migrate(verified, null);
    assertEquals(code, 1);
    assertMatch(log, /certificate/i);
  });

  Deno.test("sslmode=verify-full refuses a certificate for another name", async () => {
    const { code, log } = await migrate(verified.replace("127.0.0.1", "localhost"), LOOPBACK_ROOT);
    assertEquals(code, 1);
    assertMatch(log, /certificate/i);
  });

  Deno.test("sslmode=require encrypts, and checks no certificate", async () => {
    assertEquals((await migrate(`${server.url("postgres")}?sslmode=require`, null)).code, 0);
  });

  Deno.test("sslmode: the server is stopped", () => server.stop());
}
