import type { CodeBlock } from "./code_blocks.ts";
import { isClientSetting } from "./client_settings.ts";
import { isConfiguration } from "./configurations.ts";
import { PAGES_ON_DEV } from "./pages_on_dev.ts";
import { PAGES_ON_OWN } from "./pages_on_own.ts";
import { isProgram } from "./programs.ts";
import { entryFor, type Scenario } from "./scenario.ts";

/** A block that the tests of samples leave out: the page, a text in the block, and a file or a reason. */
type Entry = readonly [page: string, holds: string, why: string];

const SHELL = "tests/documentation/shell_blocks_test.ts";

/** Blocks that another file of tests runs or compares, by its path. */
export const TESTED_ELSEWHERE: readonly Entry[] = [
  ["README.md", "git clone", "tests/package/readme_test.ts"],
  ["docs/webhooks.md", "createHmac", "tests/webhooks/docs_test.ts"],
  ["docs/webhooks.md", "new Webhook(", "tests/webhooks/docs_test.ts"],
  ["docs/webhooks.md", "def is_from_switchyard", "tests/webhooks/docs_test.ts"],
  ["docs/webhooks.md", "func IsFromSwitchyard", "tests/webhooks/docs_test.ts"],
  ["docs/models.md", "is not supported with this model", "tests/e2e/operator_facts_test.ts"],
  ["docs/models.md", "x-service-dropped: temperature", "tests/e2e/operator_facts_test.ts"],
  ["docs/api/admin.md", '"is_stale"', "tests/prices/price_feed_test.ts"],
  ["docs/reconcile.md", "--provider openai", "tests/cli/reconcile_test.ts"],
  ["docs/reconcile.md", "--provider groq", "tests/cli/reconcile_test.ts"],
  ["docs/installing.md", "task package\n", "tests/package/package_test.ts"],
  ["docs/installing.md", "bash-completion", SHELL],
  ["docs/installing.md", "/usr/local/bin/switchyard", SHELL],
  ["docs/installing.md", "switchyard.service.d", SHELL],
  ["docs/installing.md", "docker build", SHELL],
  ["docs/api/README.md", "openapi-typescript", SHELL],
  ["docs/operating/money.md", '"event":"config_changed"', SHELL],
  ["docs/scaling.md", "switchyard store copy", "tests/store/postgres/copy_test.ts"],
  ["docs/scaling.md", "pg_dump --format", "tests/store/postgres/backup_test.ts"],
  ["docs/scaling.md", "pg_restore --exit", "tests/store/postgres/backup_test.ts"],
];

/** Blocks that no test runs, and why. */
export const UNTESTED: readonly Entry[] = [
  ["docs/operating/watch.md", "docker run", "needs Docker, and an image that only its registry has"],
  ["docs/money.md", "available − charges", "a formula"],
  ["docs/money.md", "limit = max(", "a formula"],
  ["docs/money.md", "overdraft ≤ Σ", "a formula"],
];

/** What tests blocks, by name. Each block is tested by one of them, or is in a list above. */
export const CHECKS: Readonly<Record<string, (block: CodeBlock) => boolean>> = {
  "a configuration": isConfiguration,
  "commands on dev": (block) => isRunBy(block, PAGES_ON_DEV),
  "commands on a gateway of their own": (block) => isRunBy(block, PAGES_ON_OWN),
  "a program": isProgram,
  "settings of clients": isClientSetting,
  "another file": (block) => isListed(block, TESTED_ELSEWHERE),
  "nothing": (block) => isListed(block, UNTESTED),
};

/** Languages of commands, of their output, and of bodies. */
const RUN: readonly string[] = ["sh", "bash", "console", "json", "http", "text", ""];

/** Whether scenarios run a block. */
export function isRunBy(block: CodeBlock, scenarios: readonly Pick<Scenario, "page" | "heading" | "files">[]): boolean {
  const isRun = ({ files }: Pick<Scenario, "files">) =>
    RUN.includes(block.language) || entryFor(files, block.text) !== undefined;
  return scenarios.some((scenario) => isIn(block, scenario) && isRun(scenario)) &&
    !isListed(block, TESTED_ELSEWHERE) && !isListed(block, UNTESTED);
}

/** Whether a block is in the part of a page that a scenario is for. */
export function isIn({ page, heading }: CodeBlock, scenario: Pick<Scenario, "page" | "heading">): boolean {
  return page === scenario.page && (scenario.heading === undefined || heading === scenario.heading);
}

/** Whether a list has a block. */
export function isListed({ page, text }: CodeBlock, list: readonly Entry[]): boolean {
  return list.some(([listed, holds]) => page === listed && text.includes(holds));
}
