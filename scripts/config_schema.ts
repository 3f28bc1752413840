/** Writes `docs/switchyard.schema.json`, a JSON Schema of configuration files for editors. Run by `deno task schema`. */
import { join } from "node:path";
import { SCHEMA_FILE } from "../src/cli/config_schema.ts";
import { formattedSchema } from "./config_schema/document.ts";

await Deno.writeTextFile(join(import.meta.dirname ?? ".", "../docs", SCHEMA_FILE), formattedSchema());
