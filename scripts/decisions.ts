/** Writes the index of decisions in `docs/decisions.md` from their files. Run by `deno task decisions`. */
import { join } from "node:path";
import { DECISIONS_PAGE, formattedIndex } from "./decisions/index_page.ts";

await Deno.writeTextFile(join(import.meta.dirname ?? ".", "..", DECISIONS_PAGE), await formattedIndex());
