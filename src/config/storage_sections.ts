import * as z from "zod";
import { type ReadContext, text } from "../lib/settings.ts";

/** The store, if the setting is missing. */
const DEFAULT_STORE = "kv:./data/switchyard.db";

/** The folder of files, if the setting is missing. */
const DEFAULT_FILES = "./data/files";

const STORE_EXPECTATION = `"kv:" and a path, such as "${DEFAULT_STORE}", "kv::memory:", or postgres://…`;

/** What a `postgres:` address must look like. Its value is not printed, since it can have a password. */
const DATABASE_EXPECTATION = "postgres://USER:PASSWORD@HOST/DATABASE, such as with ?sslmode=verify-full";

const store: z.ZodType<string> = z.string(STORE_EXPECTATION)
  .regex(/^(kv:[^\p{Cc}]+$|postgres(ql)?:)/u, STORE_EXPECTATION)
  .refine((address) => address.startsWith("kv:") || isDatabaseAddress(address), DATABASE_EXPECTATION)
  .default(DEFAULT_STORE);

function isDatabaseAddress(address: string): boolean {
  return /^postgres(ql)?:\/\/[^\s\p{Cc}]+$/u.test(address) && URL.canParse(address) &&
    new URL(address).host !== "" && new URL(address).pathname.length > 1;
}
const files: z.ZodType<string> = text(1, 4096).default(DEFAULT_FILES);

/**
 * The setting `store`: `kv:` and a path, `kv::memory:`, or the address of a PostgreSQL database.
 *
 * @throws {z.ZodError}
 */
export function readStoreSection(value: unknown, context?: ReadContext): string {
  return store.parse(value, context);
}

/** The setting `files`: a folder. Throws {@linkcode z.ZodError}. */
export function readFilesSection(value: unknown, context?: ReadContext): string {
  return files.parse(value, context);
}
