/** Writes `docs/openapi.json`, the description of the interface. Run by `deno task openapi`. */
import { join } from "node:path";
import { DESCRIPTION_FILE, formattedDocument } from "./openapi/document.ts";

await Deno.writeTextFile(join(import.meta.dirname ?? ".", "..", DESCRIPTION_FILE), await formattedDocument());
