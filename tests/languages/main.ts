import { run, succeeds } from "../ops/debian_packages.ts";
import { LOCK_OF_TESTS } from "../support/packages.ts";

/**
 * Runs the tests of programs in Python and Go. Where a language is not installed, it installs the package of Debian,
 * which needs rights and a network.
 */
const LANGUAGES = [
  { program: "python3", args: ["--version"], debian: "python3" },
  { program: "go", args: ["version"], debian: "golang-go" },
] as const;

/** The files with a `languageTest`. */
const SUITES: readonly string[] = [
  "tests/console/client/playground/python_snippets_test.ts",
  "tests/documentation/samples/programs_test.ts",
  "tests/examples/examples_test.ts",
  "tests/webhooks/docs_test.ts",
];

const PERMISSIONS = ["net=127.0.0.1,localhost,[::1]", "env", "read", "write", "run", "sys"];

for (const { program, args, debian } of LANGUAGES) {
  if (await succeeds(program, ...args)) continue;
  console.log(`${program} is not installed: installing ${debian}`);
  await run("apt-get", ["update"], "/");
  await run("apt-get", ["install", "--yes", "--no-install-recommends", debian], "/");
}
// `deno task check` checks the types.
const options = ["--quiet", "--no-check", `--lock=${LOCK_OF_TESTS}`, ...PERMISSIONS.map((name) => `--allow-${name}`)];
const tests = new Deno.Command(Deno.execPath(), {
  args: ["test", ...options, ...SUITES],
  env: { SWITCHYARD_TEST_LANGUAGES: "1" },
});
Deno.exitCode = (await tests.spawn().status).code;
