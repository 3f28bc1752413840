import { assertEquals, assertMatch } from "@std/assert";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { ConsoleBrowser } from "./browser.ts";

Deno.test("console: the link that dev prints shows the console, and signs in exactly once", async () => {
  const folder = await Deno.makeTempDir();
  const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
  try {
    const [, address = "", link] = await process.until(/by this link: (http:\S+)\/console#link=(\w+)\n/);
    const visitor = new ConsoleBrowser(address);
    assertMatch((await visitor.send("GET", "/console")).text, /<!doctype html>/i);
    const first = await visitor.signIn({ link });
    assertEquals([first.status, first.json.session.kind, first.json.session.role], [201, "operator", "owner"]);
    assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts")).json.data[0].id, "demo");
    const second = await new ConsoleBrowser(address).signIn({ link });
    assertEquals([second.status, second.headers.get("set-cookie")], [401, null]);
  } finally {
    process.kill("SIGTERM");
    await process.ended;
    await Deno.remove(folder, { recursive: true });
  }
});
