import * as z from "zod";
import { type ReadContext, text } from "../lib/settings.ts";

/** The store, if the setting is missing. */
const DEFAULT_STORE = "kv:./data/switchyard.db";

/** The folder of files, if the setting is missing. */
const DEFAULT_FILES = "./data/files";

const STORE_EXPECTATION = `"kv:" and a path, such as "${DEFAULT_STORE}", or "kv::memory:"`;

const store: z.ZodType<string> = z.string(STORE_EXPECTATION).regex(/^kv:[^\p{Cc}]+$/u, STORE_EXPECTATION)
  .default(DEFAULT_STORE);
const files: z.ZodType<string> = text(1, 4096).default(DEFAULT_FILES);

/** The setting `store`: `kv:` and a path, or `kv::memory:`. Throws {@linkcode z.ZodError}. */
export function readStoreSection(value: unknown, context?: ReadContext): string {
  return store.parse(value, context);
}

/** The setting `files`: a folder. Throws {@linkcode z.ZodError}. */
export function readFilesSection(value: unknown, context?: ReadContext): string {
  return files.parse(value, context);
}
