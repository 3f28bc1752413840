import { assert, assertEquals, assertThrows } from "@std/assert";
import { ADMIN_COMMANDS, type AdminCall, adminCallFor } from "../../src/entry/cli/admin/admin_call.ts";
import { readAdminArguments } from "../../src/entry/cli/admin/admin_arguments.ts";
import { COMMANDS as DESCRIBED } from "../../src/entry/cli/help/help.ts";
import { UsageError } from "../../src/entry/cli/usage_error.ts";
import type { Route } from "../../src/platform/http/request/inbound.ts";
import { adminAuditRoutes } from "../../src/protocols/admin/audit.ts";
import { adminCacheRoutes } from "../../src/protocols/admin/caches.ts";
import { adminDeliveryRoutes } from "../../src/protocols/admin/deliveries.ts";
import { adminBatchRoutes } from "../../src/protocols/admin/batches.ts";
import { adminProviderRoutes } from "../../src/protocols/admin/providers.ts";
import { adminRoutes } from "../../src/protocols/admin/routes.ts";
import { adminSigningKeyRoutes } from "../../src/protocols/admin/signing_keys.ts";
import { adminTaskRoutes } from "../../src/protocols/admin/tasks.ts";
import { atLeast, itemAt } from "../support/items.ts";

/** Every command with every option, and its call as method, path and body. */
const COMMANDS: readonly [line: string, call: string, body?: Record<string, unknown>][] = [
  ["accounts create acme --balance 5", "POST /accounts", { id: "acme", balance: "5" }],
  ["accounts list --limit 3 --after a", "GET /accounts?limit=3&after=a"],
  ["accounts show a/b", "GET /accounts/a%2Fb"],
  ["accounts allow-buckets acme gs://a/ s3://b/c/", "POST /accounts/acme/buckets", {
    allow_buckets: ["gs://a/", "s3://b/c/"],
  }],
  ["accounts allow-buckets acme", "POST /accounts/acme/buckets", { allow_buckets: [] }],
  ["accounts suspend acme", "POST /accounts/acme/suspend"],
  ["accounts resume acme", "POST /accounts/acme/resume"],
  ["accounts erase acme --yes", "POST /accounts/acme/erase"],
  ["accounts credit acme 5 --reference r", "POST /accounts/acme/credit", { amount: "5", reference: "r" }],
  ["accounts adjust acme -4.20 --reason refund --reference r --allow-negative", "POST /accounts/acme/adjust", {
    amount: "-4.20",
    reason: "refund",
    reference: "r",
    allow_negative: true,
  }],
  ["accounts allow-buckets acme gs://one/ s3://two/", "POST /accounts/acme/buckets", {
    allow_buckets: ["gs://one/", "s3://two/"],
  }],
  ["webhook-secrets rotate acme", "POST /accounts/acme/webhook-secret"],
  ["accounts set acme --name Acme --overdraft 5 --rpm none", "PATCH /accounts/acme", {
    name: "Acme",
    overdraft: "5",
    rpm: null,
  }],
  ["accounts create ops --balance unlimited", "POST /accounts", { id: "ops", balance: "unlimited" }],
  ["accounts set ops --balance prepaid", "PATCH /accounts/ops", { balance: "prepaid" }],
  ["keys create acme", "POST /accounts/acme/keys", {}],
  [
    "keys create acme --name ci --expires 2027-01-01 --models openai/*,fast --endpoints videos --providers openai " +
    '--ip-allow 10.0.0.0/8 --rpm 60 --tpm 500 --concurrency 4 --budget 20/month --metadata {"team":"x"}',
    "POST /accounts/acme/keys",
    {
      name: "ci",
      expires_at: 1_798_761_600,
      models: ["openai/*", "fast"],
      endpoints: ["videos"],
      providers: ["openai"],
      ip_allow: ["10.0.0.0/8"],
      rpm: "60",
      tpm: "500",
      concurrency: "4",
      budget: { amount: "20", per: "month" },
      metadata: { team: "x" },
    },
  ],
  ["keys show acme key_1", "GET /accounts/acme/keys/key_1"],
  ["keys set acme key_1 --budget none --models a/b", "PATCH /accounts/acme/keys/key_1", {
    budget: null,
    models: ["a/b"],
  }],
  ["keys list acme --limit 3 --after a", "GET /accounts/acme/keys?limit=3&after=a"],
  ["keys revoke acme key_1", "DELETE /accounts/acme/keys/key_1"],
  ["keys rotate acme key_1", "POST /accounts/acme/keys/key_1/rotate", { overlap: undefined }],
  ["keys rotate acme key_1 --overlap 60", "POST /accounts/acme/keys/key_1/rotate", { overlap: 60 }],
  ["caches list --limit 3 --after a --account b", "GET /caches?limit=3&after=a&account=b"],
  ["caches delete c", "DELETE /caches/c"],
  ["ledger list acme --order desc --limit 3 --after a", "GET /accounts/acme/ledger?limit=3&after=a&order=desc"],
  [
    "tasks list --limit 3 --after a --order asc --account b --status failed --model c --from 1 --to 2",
    "GET /tasks?limit=3&after=a&order=asc&account=b&status=failed&model=c&from=1&to=2",
  ],
  ["tasks show t", "GET /tasks/t"],
  [
    "batches list --limit 3 --after a --order asc --account b --status failed --from 1 --to 2",
    "GET /batches?limit=3&after=a&order=asc&account=b&status=failed&from=1&to=2",
  ],
  ["batches show b", "GET /batches/b"],
  ["batches output b", "GET /batches/b/output"],
  ["batches errors b", "GET /batches/b/errors"],
  ["batches cancel b", "POST /batches/b/cancel"],
  ["tasks mirror t", "POST /tasks/t/mirror"],
  ["tasks cancel t", "POST /tasks/t/cancel"],
  ["tasks results t", "POST /tasks/t/results"],
  [
    "deliveries list --limit 3 --after a --order asc --state pending --from 1 --to 2",
    "GET /deliveries?limit=3&after=a&order=asc&state=pending&from=1&to=2",
  ],
  ["deliveries show t", "GET /deliveries/t"],
  ["deliveries request t", "GET /deliveries/t/request"],
  ["deliveries redeliver t", "POST /deliveries/t/redeliver"],
  ["deliveries redeliver --from 1 --to 2 --state delivered --after a", "POST /deliveries/redeliver", {
    from: 1,
    to: 2,
    state: "delivered",
    after: "a",
  }],
  ["providers list", "GET /providers"],
  ["providers test openai", "POST /providers/openai/test", { credential: undefined }],
  ["providers drain openai", "PUT /providers/openai/state", { state: "drain" }],
  ["providers off openai", "PUT /providers/openai/state", { state: "off" }],
  ["providers drain openai --reason moving", "PUT /providers/openai/state", { state: "drain", reason: "moving" }],
  ["providers on openai", "PUT /providers/openai/state", { state: "on" }],
  ["providers reset openai", "DELETE /providers/openai/state"],
  ["signing-keys rotate", "POST /signing-keys/rotate"],
  ["admin-keys create ci --role write", "POST /admin-keys", { name: "ci", role: "write" }],
  ["admin-keys list", "GET /admin-keys"],
  ["admin-keys revoke adminkey_1", "DELETE /admin-keys/adminkey_1"],
  [
    "audit list --actor ci --account b --from 1 --to 2 --limit 3 --after a",
    "GET /audit?limit=3&after=a&from=1&to=2&actor=ci&account=b",
  ],
];

Deno.test("each admin command makes one call of the admin API", () => {
  for (const [line, expected, body] of COMMANDS) {
    const call = callOf(line);
    assertEquals([`${call.method} ${call.path}`, call.body], [expected.replace(" ", " /admin/v1"), body], line);
  }
});

Deno.test("each route of the admin API has a command", () => {
  const calls = COMMANDS.map(([line]) => callOf(line));
  for (const route of everyRoute()) {
    const pattern = new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`);
    const isCalled = calls.some(({ method, path }) =>
      method === route.method && pattern.test(itemAt(path.split("?"), 0))
    );
    assert(isCalled, `${route.method} ${route.path}`);
  }
});

Deno.test("help describes each admin command", () => {
  const described = new Set(DESCRIBED.map(({ words }) => words));
  for (const [line] of COMMANDS) {
    const [command, subcommand] = atLeast(line.split(" "), 1);
    assert(ADMIN_COMMANDS.has(command), command);
    assert(described.has(`${command} ${subcommand}`), `${command} ${subcommand}`);
  }
});

Deno.test("adminCallFor() refuses an option or argument that the command does not take", () => {
  for (
    const [line, complaint] of [
      ["deliveries redeliver --from 1 --to 2 --account demo", 'deliveries redeliver: unknown option "--account"'],
      ["deliveries redeliver t --state exhausted", 'deliveries redeliver: unknown option "--state"'],
      ["deliveries redeliver t u", 'deliveries redeliver: unexpected argument "u"'],
      ["tasks list --state failed", 'tasks list: unknown option "--state"'],
      ["signing-keys rotate now", 'signing-keys rotate: unexpected argument "now"'],
      ["deliveries list --colour red", 'unknown option "--colour"'],
      ["keys set acme key_1", "keys set: missing option: what to set, such as --rpm 60"],
      ["keys create acme --metadata team", "--metadata must be a JSON object"],
      ["keys create acme --overdraft 5", 'keys create: unknown option "--overdraft"'],
      ["toString valueOf", 'toString: unknown subcommand "valueOf"'],
    ] as const
  ) {
    const { message } = assertThrows(() => callOf(line), UsageError);
    assert(message.includes(complaint), message);
  }
});

Deno.test("deliveries redeliver refuses an empty task ID and half a range", () => {
  for (const words of [[], ["--from", "1"], ["--to", "2", "--state", "exhausted"]]) {
    const { message } = assertThrows(() => callOf("deliveries redeliver", ...words), UsageError);
    assert(message.includes("missing argument: a task ID, or --from and --to"), message);
  }
  const { message } = assertThrows(() => callOf("deliveries redeliver", "", "--from", "1", "--to", "2"), UsageError);
  assert(message.includes("missing argument: task ID"), message);
});

/** The call that a command line makes. */
function callOf(line: string, ...more: readonly string[]): AdminCall {
  const [command, ...args] = atLeast(line.split(" "), 1);
  const { subcommand, rest } = readAdminArguments(command, [...args, ...more]);
  return adminCallFor(command, subcommand, rest);
}

/** Every route of the admin API; no handler is called. */
function everyRoute(): Route[] {
  const nothing = {} as never;
  return [
    ...adminRoutes({
      store: nothing,
      keys: nothing,
      meter: nothing,
      readJson: nothing,
      readOptionalJson: nothing,
      accounts: [],
      noBodiesReason: null,
      erase: nothing,
    }),
    ...adminCacheRoutes({ admin: nothing }),
    ...adminDeliveryRoutes({ admin: nothing, readJson: nothing }),
    ...adminTaskRoutes({ admin: nothing, videos: nothing }),
    ...adminBatchRoutes({ admin: nothing, running: nothing }),
    ...adminProviderRoutes({
      providers: [],
      breaker: nothing,
      slots: { loadOf: () => null },
      pollsOf: () => null,
      startedAt: 0,
      test: () => Promise.resolve([]),
      setState: null,
      readJson: () => Promise.resolve({}),
      readOptionalJson: () => Promise.resolve({}),
    }),
    ...adminSigningKeyRoutes({ signingKeys: nothing }),
    ...adminAuditRoutes({ audit: nothing, keys: nothing, readJson: nothing }),
  ];
}
