import { ADMIN_ROOT } from "../../../platform/endpoints/operators.ts";
import type { OperatedState } from "../../../platform/names/provider_halt.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { AdminArguments } from "./admin_arguments.ts";
import { accountSettingsIn, changesIn, keySettingsIn } from "./limit_options.ts";
import { UsageError } from "../usage_error.ts";

/** A call of the admin API, with the rules for when no gateway runs. */
export interface AdminCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Why only a running gateway can answer. Default: its store is enough. */
  readonly needsRunning?: string;
  /** Whether a missing store is created. Default false. */
  readonly createsStore?: boolean;
  /** Whether it reads the index of tasks, which stores of earlier versions lack. Default false. */
  readonly needsTaskIndex?: boolean;
  /** The provider to test, which needs no store. Default: none. */
  readonly tests?: { readonly name: string; readonly credential: string | null };
  /** Whether it reads the log of requests. Default false. */
  readonly readsRequestLog?: boolean;
  /** The account and the id, name or prefix of the key that the path names. Default: it names none. */
  readonly ofKey?: { readonly account: string; readonly key: string };
  /** Whether one call handles a part only. While a response has a `next`, a call with that as `after` follows. */
  readonly isPaged?: boolean;
}

const NEEDS_PRICES = "only a running gateway has a price source";

const NEEDS_GATEWAY =
  "only a running gateway sets the state of a provider; without one, set state in the configuration";

/** Every admin command by its words, with the call that it makes. */
const COMMANDS: Readonly<Record<string, (args: AdminArguments) => AdminCall>> = {
  "accounts create": (args) => {
    const id = args.word("account ID");
    const body = { id, balance: args.option("balance"), ...accountSettingsIn(args) };
    return { method: "POST", path: `${ADMIN_ROOT}/accounts`, body, createsStore: true };
  },
  "accounts list": (args) => ({ method: "GET", path: `${ADMIN_ROOT}/accounts${args.query("limit", "after")}` }),
  "accounts show": (args) => ({ method: "GET", path: accountPath(args) }),
  "accounts set": (args) => {
    const path = accountPath(args);
    const balance = args.option("balance");
    const fields = { ...balance !== undefined && { balance }, ...accountSettingsIn(args) };
    return { method: "PATCH", path, body: changesIn(fields, "accounts set", "--overdraft 5") };
  },
  "accounts allow-buckets": (args) => {
    const path = `${accountPath(args)}/buckets`;
    const buckets: string[] = [];
    while (args.hasWord()) buckets.push(args.word("bucket"));
    return { method: "POST", path, body: { allow_buckets: buckets } };
  },
  "accounts suspend": (args) => ({ method: "POST", path: `${accountPath(args)}/suspend` }),
  "accounts resume": (args) => ({ method: "POST", path: `${accountPath(args)}/resume` }),
  "accounts credit": (args) => {
    const path = `${accountPath(args)}/credit`;
    return {
      method: "POST",
      path,
      body: { amount: args.word("amount in USD"), reference: args.option("reference") },
    };
  },
  "accounts adjust": (args) => {
    const path = `${accountPath(args)}/adjust`;
    const amount = args.word("signed amount in USD");
    const reason = args.option("reason");
    if (reason === undefined) throw new UsageError("switchyard accounts adjust: missing option: --reason TEXT");
    const allow_negative = args.flag("allow-negative") || undefined;
    return { method: "POST", path, body: { amount, reason, reference: args.option("reference"), allow_negative } };
  },
  "accounts erase": (args) => {
    const path = `${accountPath(args)}/erase`;
    if (!args.flag("yes")) {
      throw new UsageError(
        "switchyard accounts erase: missing option: --yes; what is erased cannot be restored, and the keys of the " +
          "account are revoked",
      );
    }
    return { method: "POST", path, needsTaskIndex: true, readsRequestLog: true };
  },
  "webhook-secrets rotate": (args) => ({ method: "POST", path: `${accountPath(args)}/webhook-secret` }),
  "keys create": (args) => ({ method: "POST", path: `${accountPath(args)}/keys`, body: keySettingsIn(args) }),
  "keys show": (args) => ({ method: "GET", ...keyIn(args) }),
  "keys set": (args) => {
    const key = keyIn(args);
    return { method: "PATCH", ...key, body: changesIn(keySettingsIn(args), "keys set", "--rpm 60") };
  },
  "keys list": (args) => ({ method: "GET", path: `${accountPath(args)}/keys${args.query("limit", "after")}` }),
  "keys revoke": (args) => ({ method: "DELETE", ...keyIn(args) }),
  "keys rotate": (args) => {
    const { path, ofKey } = keyIn(args);
    return { method: "POST", path: `${path}/rotate`, ofKey, body: { overlap: args.span("overlap") } };
  },
  "caches list": (args) => ({ method: "GET", path: `${ADMIN_ROOT}/caches${args.query("limit", "after", "account")}` }),
  "caches delete": (args) => ({ method: "DELETE", path: `${ADMIN_ROOT}/caches/${segment(args, "cache ID")}` }),
  "ledger list": (args) => ({
    method: "GET",
    path: `${accountPath(args)}/ledger${args.query("limit", "after", "order")}`,
  }),
  "tasks list": (args) => {
    const query = args.query("limit", "after", "order", "account", "status", "model", "from", "to");
    return { method: "GET", path: `${ADMIN_ROOT}/tasks${query}`, needsTaskIndex: true };
  },
  "tasks show": (args) => ({ method: "GET", path: taskPath(args) }),
  "tasks mirror": (args) => ({ method: "POST", path: `${taskPath(args)}/mirror` }),
  "tasks cancel": (args) => {
    return { method: "POST", path: `${taskPath(args)}/cancel`, needsRunning: "only a running gateway cancels tasks" };
  },
  "tasks results": (args) => {
    const needsRunning = "the addresses of results are available only from a running gateway";
    return { method: "POST", path: `${taskPath(args)}/results`, needsRunning };
  },
  "batches list": (args) => {
    const query = args.query("limit", "after", "order", "account", "status", "from", "to");
    return { method: "GET", path: `${ADMIN_ROOT}/batches${query}` };
  },
  "batches show": (args) => ({ method: "GET", path: batchPath(args) }),
  "batches output": (args) => ({ method: "GET", path: `${batchPath(args)}/output` }),
  "batches errors": (args) => ({ method: "GET", path: `${batchPath(args)}/errors` }),
  "batches cancel": (args) => {
    return {
      method: "POST",
      path: `${batchPath(args)}/cancel`,
      needsRunning: "only a running gateway cancels batches",
    };
  },
  "deliveries list": (args) => {
    const query = args.query("limit", "after", "order", "state", "from", "to");
    return { method: "GET", path: `${ADMIN_ROOT}/deliveries${query}` };
  },
  "deliveries show": (args) => ({ method: "GET", path: deliveryPath(args) }),
  "deliveries request": (args) => ({ method: "GET", path: `${deliveryPath(args)}/request` }),
  "deliveries redeliver": (args) =>
    args.hasWord()
      ? { method: "POST", path: `${deliveryPath(args)}/redeliver` }
      : { method: "POST", path: `${ADMIN_ROOT}/deliveries/redeliver`, body: rangeIn(args), isPaged: true },
  "providers list": () => {
    const needsRunning = "the health of providers is available only from a running gateway";
    return { method: "GET", path: `${ADMIN_ROOT}/providers`, needsRunning };
  },
  "providers test": (args) => {
    const name = args.word("provider NAME");
    const credential = args.option("credential");
    const path = `${ADMIN_ROOT}/providers/${encodeURIComponent(name)}/test`;
    return { method: "POST", path, body: { credential }, tests: { name, credential: credential ?? null } };
  },
  "providers on": (args) => providerState(args, "on"),
  "providers drain": (args) => providerState(args, "drain"),
  "providers off": (args) => providerState(args, "off"),
  "providers reset": (args) => {
    const path = `${ADMIN_ROOT}/providers/${encodeURIComponent(args.word("provider NAME"))}/state`;
    return { method: "DELETE", path, needsRunning: NEEDS_GATEWAY };
  },
  "prices diff": () => ({ method: "GET", path: `${ADMIN_ROOT}/prices`, needsRunning: NEEDS_PRICES }),
  "prices refresh": () => ({ method: "POST", path: `${ADMIN_ROOT}/prices/refresh`, needsRunning: NEEDS_PRICES }),
  "prices apply": (args) => {
    const models: string[] = [];
    while (args.hasWord()) models.push(args.word("model"));
    const isAll = args.flag("all");
    if (isAll === models.length > 0) {
      throw new UsageError("switchyard prices apply: expected the models of changes that wait, or --all");
    }
    const body = isAll ? {} : { models };
    return { method: "POST", path: `${ADMIN_ROOT}/prices/apply`, body, needsRunning: NEEDS_PRICES };
  },
  "prices history": (args) => ({ method: "GET", path: `${ADMIN_ROOT}/prices/history${args.query("limit", "after")}` }),
  "admin-keys create": (args) => {
    const body = { name: args.word("name"), role: args.option("role") };
    return { method: "POST", path: `${ADMIN_ROOT}/admin-keys`, body };
  },
  "admin-keys list": () => ({ method: "GET", path: `${ADMIN_ROOT}/admin-keys` }),
  "admin-keys revoke": (args) => ({
    method: "DELETE",
    path: `${ADMIN_ROOT}/admin-keys/${segment(args, "admin key ID")}`,
  }),
  "audit list": (args) => {
    const query = args.query("limit", "after", "from", "to", "actor", "account");
    return { method: "GET", path: `${ADMIN_ROOT}/audit${query}` };
  },
  "signing-keys rotate": () => ({ method: "POST", path: `${ADMIN_ROOT}/signing-keys/rotate` }),
};

/** The first words of the admin commands. */
export const ADMIN_COMMANDS: ReadonlySet<string> = new Set(
  Object.keys(COMMANDS).flatMap((words) => words.split(" ", 1)),
);

/**
 * The call that a command line makes.
 *
 * @param command One of {@linkcode ADMIN_COMMANDS}.
 * @param args The arguments after the subcommand.
 * @throws {UsageError} If there is no such subcommand, or an argument is missing or not expected.
 */
export function adminCallFor(command: string, subcommand: string, args: AdminArguments): AdminCall {
  const words = `${command} ${subcommand}`;
  const callFor = ownValue(COMMANDS, words);
  if (callFor === undefined) throw new UsageError(unknownSubcommand(command, subcommand));
  const call = callFor(args);
  args.end();
  return call;
}

function unknownSubcommand(command: string, subcommand: string): string {
  const known = Object.keys(COMMANDS).filter((words) => words.startsWith(`${command} `));
  const expected = known.map((words) => words.slice(command.length + 1)).join(", ");
  const problem = subcommand === "" ? "missing subcommand" : `unknown subcommand "${subcommand}"`;
  return `switchyard ${command}: ${problem}: expected one of ${expected}`;
}

/** A call that sets what a provider may do. */
function providerState(args: AdminArguments, state: OperatedState): AdminCall {
  const path = `${ADMIN_ROOT}/providers/${encodeURIComponent(args.word("provider NAME"))}/state`;
  const reason = args.option("reason");
  return { method: "PUT", path, body: { state, ...reason !== undefined && { reason } }, needsRunning: NEEDS_GATEWAY };
}

function accountPath(args: AdminArguments): string {
  return `${ADMIN_ROOT}/accounts/${segment(args, "account ID")}`;
}

function keyIn(args: AdminArguments): { readonly path: string; readonly ofKey: NonNullable<AdminCall["ofKey"]> } {
  const account = args.word("account ID");
  const key = args.word("key ID, name or prefix");
  const path = `${ADMIN_ROOT}/accounts/${encodeURIComponent(account)}/keys/${encodeURIComponent(key)}`;
  return { path, ofKey: { account, key } };
}

function taskPath(args: AdminArguments): string {
  return `${ADMIN_ROOT}/tasks/${segment(args, "task ID")}`;
}

function batchPath(args: AdminArguments): string {
  return `${ADMIN_ROOT}/batches/${segment(args, "batch ID")}`;
}

function deliveryPath(args: AdminArguments): string {
  return `${ADMIN_ROOT}/deliveries/${segment(args, "task ID")}`;
}

function segment(args: AdminArguments, name: string): string {
  return encodeURIComponent(args.word(name));
}

function rangeIn(args: AdminArguments): Readonly<Record<string, unknown>> {
  const [from, to] = [args.time("from"), args.time("to")];
  if (from === undefined || to === undefined) {
    throw new UsageError("switchyard deliveries redeliver: missing argument: a task ID, or --from and --to");
  }
  const [first, last] = [from, to].map((time) => Math.floor(time / 1_000));
  return { from: first, to: last, state: args.option("state"), after: args.option("after") };
}
