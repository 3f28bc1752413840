import { assertEquals, assertMatch } from "@std/assert";
import { canIsolate, makeIsolatedRoot } from "./isolated_root.ts";

/** Set by `deno task test:package`. Another root with its own `/proc` needs the rights of root. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_PACKAGE") && await canIsolate();

Deno.test({
  name: "container: the gateway starts with nothing but the files of the image, without rights, and is healthy",
  ignore: !isWanted,
  async fn() {
    const root = await makeIsolatedRoot();
    const { image } = root;
    try {
      const gateway = await root.start([...image.entrypoint, ...image.command]);
      const env = { PORT: new URL(gateway.address).port };
      const { code, stderr } = await root.run(image.healthCheck, env);
      assertEquals(code, 0, stderr);
      const { code: exitCode, log } = await gateway.stop();
      assertEquals(exitCode, 0);
      assertMatch(log, /"event":"stopped"/);
      const failed = await root.run(image.healthCheck, env);
      assertEquals(failed.code, 1);
    } finally {
      await root.remove();
    }
  },
});
