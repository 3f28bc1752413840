import { assertEquals, assertMatch } from "@std/assert";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { CHAT, sendAs } from "./caller_protocols.ts";

Deno.test("a gateway of dev can be changed while it runs, and keeps the change when it starts again", async () => {
  const folder = await Deno.makeTempDir();
  const start = async () => {
    const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
    const address = itemAt(await process.until(/ready at (http:\S+)/), 1);
    const key = itemAt(await process.until(/SWITCHYARD_KEY=(sk-sy-\w+)\n/), 1);
    const stop = async () => {
      process.kill("SIGTERM");
      assertEquals((await process.ended).code, 0);
    };
    return { address, key, stop };
  };
  const command = async (...args: readonly string[]) => {
    const process = startGatewayProcess({ args, folder });
    const { code } = await process.ended;
    assertEquals(code, 0, process.output() + process.log());
    return process.output();
  };
  const before = await start();
  assertEquals((await sendAs(CHAT, before)).status, 200);
  const gateway = ["--gateway", before.address];
  assertMatch(
    await command("providers", "drain", "sandbox-openai", "--reason", "maintenance", ...gateway),
    /"state": "drain"/,
  );
  assertEquals((await sendAs(CHAT, before)).json.error.code, "route_error");
  await before.stop();

  const after = await start();
  assertEquals((await sendAs(CHAT, after)).json.error.code, "route_error");
  await command("providers", "reset", "sandbox-openai", "--gateway", after.address);
  assertEquals((await sendAs(CHAT, after)).status, 200);
  await after.stop();
  await Deno.remove(folder, { recursive: true });
});
