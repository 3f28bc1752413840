/**
 * The program that tests start: the source, or a bundle of it that `scripts/run_tests.ts` makes once. Deno reads some
 * 700 modules of the source for each process and each thread, which takes longer than most tests.
 * Source: docs/decisions/0196-tests-with-a-bundle.md.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { replaceThreadModules } from "../../src/platform/lib/process/program_files.ts";

const BUNDLE = Deno.env.get("SWITCHYARD_TEST_BUNDLE");

/** The path of the module that a process runs. */
export const PROGRAM: string = BUNDLE === undefined
  ? fileURLToPath(new URL("../../main.ts", import.meta.url))
  : join(BUNDLE, "main.js");

// The threads of gateways in the process of the tests.
if (BUNDLE !== undefined) replaceThreadModules((path) => new URL(`file://${join(BUNDLE, "src", `${path}.js`)}`));
