import { UsageError } from "./usage_error.ts";

/** What a command line asks of the admin API. */
export interface AdminCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Why only a running gateway can answer; left out when its store is enough. */
  readonly needsRunning?: string;
}

/** Options that become the body or the query of a call, by their names. */
export type AdminOptions = Readonly<Partial<Record<"balance" | "reference" | typeof QUERY_OPTIONS[number], string>>>;

/** Options that stand in the query as they are. */
export const QUERY_OPTIONS = ["limit", "after", "order", "account", "status", "model", "from", "to"] as const;

/** The first words of the commands that administer a gateway. */
export const ADMIN_COMMANDS: ReadonlySet<string> = new Set([
  "accounts",
  "keys",
  "ledger",
  "tasks",
  "providers",
  "signing-keys",
]);

/**
 * The call that a command line stands for.
 *
 * @param command Of {@linkcode ADMIN_COMMANDS}.
 * @param words What stands behind it, options apart.
 * @throws {UsageError} If there is no such command, or a word is missing.
 */
export function adminCallFor(command: string, words: readonly string[], options: AdminOptions): AdminCall {
  const [verb = ""] = words;
  const call = command === "tasks" || command === "providers" || command === "signing-keys"
    ? operationCallFor(command, words, options)
    : accountCallFor(command, words, options);
  if (call === null) throw new UsageError(`switchyard ${command}: there is no "${verb}"`);
  return call;
}

function operationCallFor(command: string, [verb, id]: readonly string[], options: AdminOptions): AdminCall | null {
  switch (`${command} ${verb}`) {
    case "tasks list":
      return { method: "GET", path: `/admin/v1/tasks${queryOf(options, QUERY_OPTIONS)}` };
    case "tasks show":
      return { method: "GET", path: `/admin/v1/tasks/${encodeURIComponent(needed(id, "a task's id"))}` };
    case "providers list": {
      const needsRunning = "the health of providers is known to a running gateway alone";
      return { method: "GET", path: "/admin/v1/providers", needsRunning };
    }
    case "signing-keys rotate":
      return { method: "POST", path: "/admin/v1/signing-keys/rotate" };
  }
  return null;
}

function accountCallFor(command: string, words: readonly string[], options: AdminOptions): AdminCall | null {
  const [verb, account, extra] = words;
  const at = (rest: string) => `/admin/v1/accounts/${encodeURIComponent(needed(account, "an account"))}${rest}`;
  const page = queryOf(options, ["limit", "after"]);
  switch (`${command} ${verb}`) {
    case "accounts create": {
      const body = { id: needed(account, "an id"), balance: options.balance };
      return { method: "POST", path: "/admin/v1/accounts", body };
    }
    case "accounts list":
      return { method: "GET", path: `/admin/v1/accounts${page}` };
    case "accounts show":
      return { method: "GET", path: at("") };
    case "accounts suspend":
    case "accounts resume":
      return { method: "POST", path: at(`/${verb}`) };
    case "accounts credit": {
      const body = { amount: needed(extra, "an amount of USD"), reference: options.reference };
      return { method: "POST", path: at("/credit"), body };
    }
    case "keys create":
      return { method: "POST", path: at("/keys") };
    case "keys list":
      return { method: "GET", path: at(`/keys${page}`) };
    case "keys revoke":
      return { method: "DELETE", path: at(`/keys/${encodeURIComponent(needed(extra, "a key's id"))}`) };
    case "ledger list":
      return { method: "GET", path: at(`/ledger${page}`) };
  }
  return null;
}

function needed(word: string | undefined, what: string): string {
  if (word === undefined || word === "") throw new UsageError(`switchyard: expected ${what}`);
  return word;
}

function queryOf(options: AdminOptions, names: readonly (typeof QUERY_OPTIONS[number])[]): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = options[name];
    if (value !== undefined) query.set(name, value);
  }
  return query.size === 0 ? "" : `?${query}`;
}
