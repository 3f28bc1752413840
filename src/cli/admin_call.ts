import type { AdminLine } from "./admin_arguments.ts";
import { UsageError } from "./usage_error.ts";

/** What a command line asks of the admin API. */
export interface AdminCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Why only a running gateway can answer; left out when its store is enough. */
  readonly needsRunning?: string;
  /** Whether a store is made for it when there is none. */
  readonly makesStore?: boolean;
  /** One call does a part; while it answers with a `next`, another with that as `after` goes on. */
  readonly goesOn?: boolean;
}

const ROOT = "/admin/v1";

/** Every command that administers a gateway: its words, and the call that it stands for. */
const COMMANDS: Readonly<Record<string, (line: AdminLine) => AdminCall>> = {
  "accounts create": (line) => {
    const body = { id: line.word("an id"), balance: line.option("balance") };
    return { method: "POST", path: `${ROOT}/accounts`, body, makesStore: true };
  },
  "accounts list": (line) => ({ method: "GET", path: `${ROOT}/accounts${line.query("limit", "after")}` }),
  "accounts show": (line) => ({ method: "GET", path: accountIn(line) }),
  "accounts allow-buckets": (line) => {
    const path = `${accountIn(line)}/buckets`;
    const buckets: string[] = [];
    while (line.hasWord()) buckets.push(line.word("a bucket"));
    return { method: "POST", path, body: { allow_buckets: buckets } };
  },
  "accounts suspend": (line) => ({ method: "POST", path: `${accountIn(line)}/suspend` }),
  "accounts resume": (line) => ({ method: "POST", path: `${accountIn(line)}/resume` }),
  "accounts credit": (line) => {
    const path = `${accountIn(line)}/credit`;
    return {
      method: "POST",
      path,
      body: { amount: line.word("an amount of USD"), reference: line.option("reference") },
    };
  },
  "accounts adjust": (line) => {
    const path = `${accountIn(line)}/adjust`;
    const amount = line.word("a signed amount of USD");
    const reason = line.option("reason");
    if (reason === undefined) throw new UsageError("switchyard accounts adjust: expected --reason TEXT");
    const allow_negative = line.flag("allow-negative") || undefined;
    return { method: "POST", path, body: { amount, reason, reference: line.option("reference"), allow_negative } };
  },
  "webhook-secrets rotate": (line) => ({ method: "POST", path: `${accountIn(line)}/webhook-secret` }),
  "keys create": (line) => ({ method: "POST", path: `${accountIn(line)}/keys` }),
  "keys list": (line) => ({ method: "GET", path: `${accountIn(line)}/keys${line.query("limit", "after")}` }),
  "keys revoke": (line) => ({ method: "DELETE", path: `${accountIn(line)}/keys/${segmentIn(line, "a key's id")}` }),
  "ledger list": (line) => ({
    method: "GET",
    path: `${accountIn(line)}/ledger${line.query("limit", "after", "order")}`,
  }),
  "tasks list": (line) => {
    const query = line.query("limit", "after", "order", "account", "status", "model", "from", "to");
    return { method: "GET", path: `${ROOT}/tasks${query}` };
  },
  "tasks show": (line) => ({ method: "GET", path: `${ROOT}/tasks/${taskIn(line)}` }),
  "tasks mirror": (line) => ({ method: "POST", path: `${ROOT}/tasks/${taskIn(line)}/mirror` }),
  "deliveries list": (line) => {
    const query = line.query("limit", "after", "order", "state", "from", "to");
    return { method: "GET", path: `${ROOT}/deliveries${query}` };
  },
  "deliveries show": (line) => ({ method: "GET", path: `${ROOT}/deliveries/${taskIn(line)}` }),
  "deliveries request": (line) => ({ method: "GET", path: `${ROOT}/deliveries/${taskIn(line)}/request` }),
  "deliveries redeliver": (line) =>
    line.hasWord()
      ? { method: "POST", path: `${ROOT}/deliveries/${taskIn(line)}/redeliver` }
      : { method: "POST", path: `${ROOT}/deliveries/redeliver`, body: rangeIn(line), goesOn: true },
  "providers list": () => {
    const needsRunning = "the health of providers is known to a running gateway alone";
    return { method: "GET", path: `${ROOT}/providers`, needsRunning };
  },
  "signing-keys rotate": () => ({ method: "POST", path: `${ROOT}/signing-keys/rotate` }),
};

/** The first words of the commands that administer a gateway. */
export const ADMIN_COMMANDS: ReadonlySet<string> = new Set(Object.keys(COMMANDS).map((words) => words.split(" ")[0]));

/**
 * The call that a command line stands for.
 *
 * @param command Of {@linkcode ADMIN_COMMANDS}.
 * @throws {UsageError} If there is no such command, a word is missing, or there is one too many.
 */
export function adminCallFor(command: string, verb: string, line: AdminLine): AdminCall {
  const words = `${command} ${verb}`;
  if (!Object.hasOwn(COMMANDS, words)) throw new UsageError(`switchyard ${command}: there is no "${verb}"`);
  const call = COMMANDS[words](line);
  line.end();
  return call;
}

function accountIn(line: AdminLine): string {
  return `${ROOT}/accounts/${segmentIn(line, "an account")}`;
}

function taskIn(line: AdminLine): string {
  return segmentIn(line, "a task's id");
}

function segmentIn(line: AdminLine, what: string): string {
  return encodeURIComponent(line.word(what));
}

function rangeIn(line: AdminLine): Readonly<Record<string, unknown>> {
  const [from, to] = [line.option("from"), line.option("to")];
  if (from === undefined || to === undefined) {
    throw new UsageError("switchyard: expected a task's id, or --from and --to in whole Unix seconds");
  }
  return { from: numberOr(from), to: numberOr(to), state: line.option("state"), after: line.option("after") };
}

/** What is no number stays as it is: the admin API says what it expects. */
function numberOr(text: string): number | string {
  return /^\d{1,12}$/.test(text) ? Number(text) : text;
}
