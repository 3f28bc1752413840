import { assertEquals } from "@std/assert";
import { isIn, isRunBy } from "./accounting.ts";
import { readCodeBlocks } from "./code_blocks.ts";
import { startOwnStage } from "./own_stage.ts";
import { PAGES_ON_OWN } from "./pages_on_own.ts";
import { runBlocks } from "./run_blocks.ts";
import { sessionOn } from "./scenario.ts";

const blocks = (await readCodeBlocks()).filter((block) => isRunBy(block, PAGES_ON_OWN));

for (const scenario of PAGES_ON_OWN) {
  const place = [scenario.page, scenario.heading ?? []].flat().join(", ");
  Deno.test(`documentation: what ${place} shows is what a gateway prints`, async () => {
    const stage = await startOwnStage(scenario.options);
    try {
      const own = blocks.filter((block) => isIn(block, scenario));
      assertEquals((await runBlocks(sessionOn(stage), own, scenario)).join("\n\n"), "");
    } finally {
      await stage.stop();
    }
  });
}
