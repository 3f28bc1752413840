import { assert, assertEquals, assertMatch } from "@std/assert";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { ConsoleBrowser } from "./browser.ts";

Deno.test("console: the link that dev prints signs in exactly once, and shows what is in force", async () => {
  const folder = await Deno.makeTempDir();
  const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
  try {
    const [, address = "", link] = await process.until(/once within 15 minutes: (http:\S+)\/console#link=(\w+)\n/);
    const visitor = new ConsoleBrowser(address);
    assertMatch((await visitor.send("GET", "/console")).text, /<!doctype html>/i);
    const first = await visitor.signIn({ link });
    assertEquals([first.status, first.json.session.kind, first.json.session.role], [201, "operator", "owner"]);
    assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts")).json.data[0].id, "demo");
    const { status, text, json } = await visitor.send("GET", "/console/api/admin/v1/config");
    assertEquals([status, json.is_read_only, json.file, json.version], [200, false, null, 0]);
    const { models, server, accounts, limits } = json.settings;
    assertEquals(models["sandbox/chat-1"].owner, "command dev");
    assertEquals(server.port, { value: "0", owner: "environment" });
    assertEquals(limits.text_body.owner, "default");
    assertEquals(accounts.demo.value.balance, "25.00");
    const key = await Deno.readTextFile(`${folder}/data/dev-key`);
    assert(!text.includes(key.trim()), "the key of the account is shown");
    assertEquals((await visitor.send("POST", "/console/api/admin/v1/config/reload")).status, 200);
    const second = await new ConsoleBrowser(address).signIn({ link });
    assertEquals([second.status, second.headers.get("set-cookie")], [401, null]);
  } finally {
    process.kill("SIGTERM");
    await process.ended;
    await Deno.remove(folder, { recursive: true });
  }
});
