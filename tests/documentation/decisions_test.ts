import { assert } from "@std/assert";
import { DECISIONS_PAGE, formattedIndex } from "../../scripts/decisions/index_page.ts";
import { ROOT } from "../architecture/source_files.ts";

Deno.test(`${DECISIONS_PAGE} is what "deno task decisions" writes`, async () => {
  const isCurrent = await Deno.readTextFile(ROOT + DECISIONS_PAGE) === await formattedIndex();
  assert(isCurrent, 'The index is not current: run "deno task decisions"');
});
