/** Writes `docs/configuration-reference.md` from the schemas of the configuration. Run by `deno task reference`. */
import { join } from "node:path";
import { formattedReference, problemsOfTexts, REFERENCE_PAGE } from "./reference/page.ts";

const problems = problemsOfTexts();
if (problems.length > 0) {
  console.error(problems.join("\n"));
  Deno.exit(1);
}
await Deno.writeTextFile(join(import.meta.dirname ?? ".", "..", REFERENCE_PAGE), await formattedReference());
