import { assertEquals } from "@std/assert";
import { ROOT, sourceFiles } from "./source_files.ts";

/** Reading a `data:` URI by hand. The console runs in browsers; the simulated vendors are others' programs. */
const READS_BY_HAND = /startsWith\("data:"\)|\^data:\(?\[|"data:"\.length/;
const OTHERS =
  /^src\/(?:platform\/lib\/media\/data_uri\.ts|console\/client\/|sandbox\/|services\/texts\/relay\/stream_frames\.ts)/;

Deno.test("data: URIs are read in one place", async () => {
  const found: string[] = [];
  for (const path of await sourceFiles("src")) {
    if (OTHERS.test(path)) continue;
    if (READS_BY_HAND.test(await Deno.readTextFile(`${ROOT}/${path}`))) found.push(path);
  }
  assertEquals(found, []);
});
