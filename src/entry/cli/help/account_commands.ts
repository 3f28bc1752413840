import {
  command,
  type CommandHelp,
  CONFIG,
  flag,
  GATEWAY,
  LIMITS,
  option,
  type OptionHelp,
  ORDER,
  PAGES,
  TIMES,
} from "./command_help.ts";

const ADMIN = [CONFIG, GATEWAY];
const REFERENCE = option("reference", "TEXT", "recorded in the ledger; an amount with the same one is added once");
const ACCOUNT_SETTINGS: readonly OptionHelp[] = [
  option("name", "NAME", "a name for people"),
  option("overdraft", "USD", "how far the balance may go below zero"),
  option("notification-url", "URL", "gets the notifications about the account"),
  option("webhook-format", "FORMAT", "the body of events about batches", ["service", "openai"]),
  option("expires", "TIME", "when all keys of the account end: 90d or 2027-01-01"),
  option("metadata", "JSON", "an object to keep with the account"),
  ...LIMITS,
];
const KEY_SETTINGS: readonly OptionHelp[] = [
  option("name", "NAME", "a name for people"),
  option("expires", "TIME", "when the key ends: 90d or 2027-01-01"),
  option("metadata", "JSON", "an object to keep with the key"),
  ...LIMITS,
];

/** Commands for accounts, keys, operators and money. */
export const ACCOUNT_COMMANDS: readonly CommandHelp[] = [
  command("accounts create", "ID", "create an account", {
    options: [...ADMIN, option("balance", "USD", 'the first credit, or "unlimited"'), ...ACCOUNT_SETTINGS],
    examples: ["accounts create acme --balance 50", "accounts create acme --budget 100/month --rpm 600"],
  }),
  command("accounts set", "ID", 'change settings; "none" removes one', {
    options: [
      ...ADMIN,
      option("balance", "KIND", "whether the balance limits requests", ["prepaid", "unlimited"]),
      ...ACCOUNT_SETTINGS,
    ],
    examples: ["accounts set acme --overdraft 5", "accounts set ops --balance unlimited"],
  }),
  command("accounts list", "", "list accounts", { options: [...ADMIN, ...PAGES], examples: ["accounts list"] }),
  command("accounts show", "ID", "show an account", { options: ADMIN, examples: ["accounts show acme"] }),
  command("accounts suspend", "ID", "refuse all requests of an account", {
    options: ADMIN,
    examples: ["accounts suspend acme"],
  }),
  command("accounts resume", "ID", "end a suspension", { options: ADMIN, examples: ["accounts resume acme"] }),
  command(
    "accounts erase",
    "ID",
    "remove what identifies a customer: names, prompts, videos, logs; money stays",
    { options: [...ADMIN, flag("yes", "confirm it")], examples: ["accounts erase acme --yes"] },
  ),
  command("accounts credit", "ID USD", "add to a balance", {
    options: [...ADMIN, REFERENCE],
    examples: ["accounts credit acme 25.00 --reference invoice-17"],
  }),
  command("accounts adjust", "ID USD", "add to a balance, or subtract: -4.20", {
    options: [
      ...ADMIN,
      option("reason", "TEXT", "why; required"),
      REFERENCE,
      flag("allow-negative", "let the balance become negative"),
    ],
    examples: ['accounts adjust acme -4.20 --reason "charged twice"'],
  }),
  command(
    "accounts allow-buckets",
    "ID [BUCKET…]",
    "replace the list of buckets that requests of the account may name",
    { options: ADMIN, examples: ["accounts allow-buckets acme acme-videos"] },
  ),
  command("keys create", "ACCOUNT", "create an API key and show it once", {
    options: [...ADMIN, ...KEY_SETTINGS],
    examples: ['keys create acme --name ci --models "openai/*" --rpm 60 --budget 20/month'],
  }),
  command("keys set", "ACCOUNT KEY", 'change settings of a key; "none" removes one', {
    options: [...ADMIN, ...KEY_SETTINGS],
    examples: ["keys set acme key_1 --rpm 60", "keys set acme key_1 --expires none"],
  }),
  command("keys list", "ACCOUNT", "list the keys of an account", {
    options: [...ADMIN, ...PAGES],
    examples: ["keys list acme"],
  }),
  command("keys show", "ACCOUNT KEY", "show a key without its secret", {
    options: ADMIN,
    examples: ["keys show acme key_1"],
  }),
  command("keys revoke", "ACCOUNT KEY", "revoke a key immediately", {
    options: ADMIN,
    examples: ["keys revoke acme key_1"],
  }),
  command(
    "keys rotate",
    "ACCOUNT KEY",
    "replace a key by one with the same settings, immediately or after a time",
    {
      options: [...ADMIN, option("overlap", "SPAN", "how long the old key stays valid: 90m, 12h or seconds")],
      examples: ["keys rotate acme ci --overlap 1h"],
    },
  ),
  command("admin-keys create", "NAME", "create a key of the admin API and show it once", {
    options: [...ADMIN, option("role", "ROLE", "what it may do", ["read", "write", "owner"])],
    examples: ["admin-keys create grafana --role read"],
  }),
  command("admin-keys list", "", "list the keys of the admin API", { options: ADMIN, examples: ["admin-keys list"] }),
  command("admin-keys revoke", "ID", "end a key of the admin API", {
    options: ADMIN,
    examples: ["admin-keys revoke adminkey_1"],
  }),
  command("audit list", "", "show who changed what, newest first", {
    options: [
      ...ADMIN,
      option("actor", "NAME", "only changes of this operator"),
      option("account", "ID", "only changes of this account"),
      ...TIMES,
      ...PAGES,
    ],
    examples: ["audit list --account acme --limit 20"],
  }),
  command(
    "webhook-secrets rotate",
    "ACCOUNT",
    "create a webhook secret and show it once; the old one stays valid for a day",
    { options: ADMIN, examples: ["webhook-secrets rotate acme"] },
  ),
  command("caches list", "", "show cached contents of callers, newest first", {
    options: [...ADMIN, option("account", "ID", "only those of this account"), ...PAGES],
    examples: ["caches list --account acme"],
  }),
  command("caches delete", "ID", "delete a cached content", { options: ADMIN, examples: ["caches delete cache_1"] }),
  command("ledger list", "ACCOUNT", "list the entries of an account's ledger", {
    options: [...ADMIN, ORDER, ...PAGES],
    examples: ["ledger list acme --order desc --limit 20"],
  }),
  command("ledger verify", "", "check balances and usage against their entries; the gateway must not run", {
    options: [CONFIG, flag("accept-incomplete", "go on with a copy of a store that lacks its last charges")],
    examples: ["ledger verify"],
  }),
];
