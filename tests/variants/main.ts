import { LOCK_OF_TESTS } from "../support/packages.ts";
import { startPostgres } from "../support/postgres_server.ts";

/**
 * Runs the suites about money, limits, videos, webhooks and caches with two threads that accept connections, then with
 * two gateways on one PostgreSQL database. Other suites move the clock, or look into one process.
 */
const SUITES: readonly string[] = [
  "tests/e2e/balance_test.ts",
  "tests/e2e/budget_period_test.ts",
  "tests/e2e/caches_test.ts",
  "tests/e2e/images_test.ts",
  "tests/e2e/key_end_test.ts",
  "tests/e2e/key_limits_test.ts",
  "tests/e2e/limits_test.ts",
  "tests/e2e/media_files_test.ts",
  "tests/e2e/money_walk",
  "tests/e2e/reconcile_test.ts",
  "tests/e2e/unlimited_balance_test.ts",
  "tests/e2e/usage_test.ts",
  "tests/e2e/webhooks_test.ts",
  "tests/e2e/videos/create_test.ts",
  "tests/e2e/videos/lifecycle_test.ts",
  "tests/e2e/videos/limits_test.ts",
  "tests/e2e/videos/listing_test.ts",
  "tests/e2e/videos/files_test.ts",
  "tests/e2e/videos/money_test.ts",
  "tests/e2e/videos/results_test.ts",
  "tests/e2e/videos/underpriced_test.ts",
];

/**
 * A reload answers for the gateway that it was sent to; others follow within seconds. Each gateway has a memory budget
 * of its own. Overdrafts are in neither list: they take as long as all other suites together, and the money walk tests
 * their bound.
 */
const THREAD_SUITES: readonly string[] = [
  ...SUITES,
  "tests/documentation/samples/pages_on_own_test.ts",
  "tests/e2e/config_changes_test.ts",
  "tests/e2e/memory_test.ts",
];

const PERMISSIONS = ["net=127.0.0.1,localhost,[::1]", "env", "read", "write", "run", "sys"];

/** Runs suites in a process of their own. Returns its exit code. */
async function run(title: string, suites: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  console.log(title);
  // `deno task check` checks the types.
  const options = ["--quiet", "--no-check", `--lock=${LOCK_OF_TESTS}`];
  const args = ["test", ...options, ...PERMISSIONS.map((name) => `--allow-${name}`), ...suites];
  return (await new Deno.Command(Deno.execPath(), { args, env }).spawn().status).code;
}

const threads = await run("Two threads accept connections", THREAD_SUITES, { SWITCHYARD_TEST_ISOLATES: "2" });
const server = await startPostgres();
try {
  const gateways = await run("Two gateways share a database", SUITES, {
    SWITCHYARD_TEST_DATABASE: server.url("postgres"),
  });
  Deno.exitCode = threads === 0 && gateways === 0 ? 0 : 1;
} finally {
  await server.stop();
}
