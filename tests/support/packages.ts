import { fileURLToPath } from "node:url";
import project from "../../deno.json" with { type: "json" };
import { present } from "./items.ts";

/** The path of the lock file for programs that a test starts and that import packages of tests. */
export const LOCK_OF_TESTS = fileURLToPath(new URL("../deno.lock", import.meta.url));

const PACKAGES: Readonly<Record<string, string>> = project.scopes["./tests/"];

/**
 * The package that a bare name in `tests` stands for, such as `npm:openai@7.55.0`.
 *
 * @throws AssertionError when `deno.json` has no such name for tests.
 */
export function packageOfTests(name: string): string {
  return present(PACKAGES[name], `${name} in the scope ./tests/ of deno.json`);
}

/**
 * A program that works in any folder: the bare names of packages of tests, which `deno.json` has for files in `tests`
 * only, become the packages themselves.
 */
export function withPackagesOfTests(program: string): string {
  return program.replaceAll(
    /(?<=from )"([^".][^"]*)"/g,
    (text, name: string) => Object.hasOwn(PACKAGES, name) ? JSON.stringify(packageOfTests(name)) : text,
  );
}
