/**
 * Writes what editors say about settings: `docs/switchyard.schema.json`, a JSON Schema of configuration files, and the
 * meanings for the editor of the console. Run by `deno task schema`.
 */
import { join } from "node:path";
import { SCHEMA_FILE } from "../src/entry/cli/config_schema.ts";
import { formattedMeanings, formattedSchema, MEANINGS_FILE } from "./config_schema/document.ts";

const ROOT = join(import.meta.dirname ?? ".", "..");
await Deno.writeTextFile(join(ROOT, "docs", SCHEMA_FILE), formattedSchema());
await Deno.writeTextFile(join(ROOT, MEANINGS_FILE), formattedMeanings());
