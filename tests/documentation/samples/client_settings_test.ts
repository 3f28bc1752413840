import { assertEquals } from "@std/assert";
import { isClientSetting, unusedNamesOf } from "./client_settings.ts";
import { placeOf, readCodeBlocks } from "./code_blocks.ts";

Deno.test("documentation: the settings of clients are those that the tests of the clients use", async () => {
  const blocks = (await readCodeBlocks()).filter(isClientSetting);
  const unused = await Promise.all(blocks.map(async (block) => [placeOf(block), await unusedNamesOf(block)] as const));
  assertEquals(unused.filter(([, names]) => names.length > 0), []);
});
