import type { ReadableFiles } from "../../src/services/stored_files/file_reference.ts";

const refuse = () => Promise.reject(new Error("No caller has stored a file"));

/** The stored files of engines whose requests name none. */
export const NO_STORED_FILES: ReadableFiles = { read: refuse, open: refuse };
