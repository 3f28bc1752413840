import { assertEquals } from "@std/assert";
import { readCodeBlocks } from "./code_blocks.ts";
import { startDevStage } from "./dev_stage.ts";
import { PAGES_ON_DEV } from "./pages_on_dev.ts";
import { runBlocks } from "./run_blocks.ts";
import { sessionOn } from "./scenario.ts";
import { isIn, isRunBy } from "./accounting.ts";

const blocks = (await readCodeBlocks()).filter((block) => isRunBy(block, PAGES_ON_DEV));

Deno.test("documentation: what the pages for callers show is what the gateway of dev prints", async (t) => {
  const stage = await startDevStage();
  try {
    for (const scenario of PAGES_ON_DEV) {
      await t.step(scenario.page, async () => {
        const own = blocks.filter((block) => isIn(block, scenario));
        assertEquals((await runBlocks(sessionOn(stage), own, scenario)).join("\n\n"), "");
      });
    }
  } finally {
    await stage.stop();
  }
});
