import { assert, assertEquals } from "@std/assert";
import { readCodeBlocks } from "../documentation/samples/code_blocks.ts";
import { runBlocks } from "../documentation/samples/run_blocks.ts";
import { sessionOn } from "../documentation/samples/scenario.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { makeCleanRoot, REPOSITORY } from "./clean_root.ts";
import { canIsolate } from "./isolated_root.ts";

/** Set by `deno task test:package`, because npm loads Deno from the registry. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_PACKAGE") && await canIsolate();

Deno.test({
  name: "README.md: its commands, pasted on a machine with only Node, lead to the reply that it shows",
  ignore: !isWanted,
  async fn() {
    const [install, request] = (await readCodeBlocks()).filter(({ page }) => page === "README.md");
    assert(install !== undefined && request !== undefined);
    const { port } = new URL(closedOrigin());
    const root = await makeCleanRoot();
    const shell = root.start(install.text.replace(/<address of .*?>/, REPOSITORY), { PORT: port });
    try {
      const [, address = ""] = await shell.until(/ready at (http:\S+)/);
      const [, key = ""] = await shell.until(/export SWITCHYARD_KEY=(\S+)\n/);
      const stage = {
        address,
        adminKey: "",
        folder: "/",
        variables: { SWITCHYARD_KEY: key },
        stop: () => Promise.resolve(),
      };
      assertEquals(await runBlocks(sessionOn(stage), [request], { page: "README.md" }), []);
    } finally {
      await shell.stop();
      await root.remove();
    }
  },
});
