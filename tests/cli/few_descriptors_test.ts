import { assertEquals } from "@std/assert";
import { startGatewayProcess } from "../support/gateway_process.ts";

Deno.test({
  name: "serve warns of a low limit of open files, and dev does not, whose only callers are on this machine",
  // Elsewhere the limit is not known.
  ignore: Deno.build.os !== "linux",
  async fn() {
    const warned: Record<string, boolean> = {};
    for (const command of ["serve", "dev"]) {
      const folder = await Deno.makeTempDir();
      const process = startGatewayProcess({ args: [command], folder, env: { PORT: "0" }, descriptors: 4096 });
      await process.until(/ready at (http:\S+)/);
      process.kill("SIGTERM");
      assertEquals((await process.ended).code, 0);
      warned[command] = process.log().includes("listen.few_descriptors");
      await Deno.remove(folder, { recursive: true });
    }
    assertEquals(warned, { serve: true, dev: false });
  },
});
