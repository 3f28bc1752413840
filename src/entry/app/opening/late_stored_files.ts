import { Late } from "../../../platform/lib/process/late.ts";
import type { ReadableFiles } from "../../../services/stored_files/file_reference.ts";
import type { StoredFileServices } from "./stored_files.ts";

const storedFilesModule = new Late(() => import("./stored_files.ts"));

/** The files of callers, for requests that name them. The first such request loads their code. */
export function createReadableFiles(services: StoredFileServices): ReadableFiles {
  const files = new Late(async () => (await storedFilesModule.load()).createStoredFiles(services));
  return {
    read: async (keyId, id) => await (await files.load()).read(keyId, id),
    open: async (file) => await (await files.load()).open(file),
  };
}
