import { command, type CommandHelp, CONFIG, flag, GATEWAY, option, ORDER, PAGES, TIMES } from "./command_help.ts";

const ADMIN = [CONFIG, GATEWAY];
const STATE_OPTIONS = [...ADMIN, option("reason", "TEXT", "why, for other operators")];
const OF_ACCOUNT = option("account", "ID", "only those of this account");
const JSON_LINES = flag("json", "print JSON");
/** The options of the ends of ranges, without `min-` and `max-`. */
const RANGES = {
  "duration-ms": "many milliseconds",
  "first-byte-ms": "many milliseconds until the first byte",
  "cost": "much cost in USD",
  "input-tokens": "many tokens of the prompt",
  "output-tokens": "many generated tokens",
  "images": "many images",
  "attempts": "many attempts",
  "request-bytes": "many bytes sent",
  "response-bytes": "many bytes returned",
} as const;
const REQUEST_FILTERS = [
  OF_ACCOUNT,
  option("key", "ID", "only those of this key"),
  option("model", "NAME", "only those of this model"),
  option("provider", "NAME", "only those that tried this provider"),
  option("status", "STATUS", "only those with this status: 404, 5xx or error"),
  option("code", "CODE", "only those with this error code"),
  ...TIMES,
  option("q", "TEXT", "only those with this text in their id or an error message"),
  option("protocol", "NAME", "only those of this protocol", ["default", "message", "content", "admin"]),
  option("endpoint", "PATH", "only those of this endpoint"),
  option("method", "METHOD", "only those with this HTTP method"),
  option("kind", "KIND", "only those of this kind: text, image, video"),
  option("end", "END", "only those that ended like this", ["completed", "cut", "left"]),
  option("refusal-limit", "LIMIT", "only those that this limit refused", ["rpm", "tpm", "concurrency", "budget"]),
  option("refusal-holder", "HOLDER", "only those that a limit of the key or the account refused", ["key", "account"]),
  option("attempt-code", "CODE", "only those with an attempt that failed like this"),
  option("attempt-status", "STATUS", "only those with an attempt that had this status at the vendor"),
  option("dropped", "FIELD", "only those with a field that the vendor did not get"),
  option("client-address", "ADDRESS", "only those from this address"),
  option("is-estimated", "BOOLEAN", "only those whose tokens were estimated, or not", ["true", "false"]),
  ...(Object.keys(RANGES) as (keyof typeof RANGES)[]).flatMap((fact) => [
    option(`min-${fact}`, "N", `only those with at least so ${RANGES[fact]}`),
    option(`max-${fact}`, "N", `only those with at most so ${RANGES[fact]}`),
  ]),
];

/** Commands that show requests and usage, and act on videos, webhooks and providers. */
export const TRAFFIC_COMMANDS: readonly CommandHelp[] = [
  command("usage", "", "sums of requests, tokens and cost", {
    options: [
      ...ADMIN,
      option("group-by", "LIST", "account, key, model, provider, kind, day; default model"),
      option("from", "DAY", "the first day, UTC: 7d, yesterday, 2026-11-21"),
      option("to", "DAY", "the day after the last one: today for yesterday"),
      OF_ACCOUNT,
      option("key", "ID", "only that of this key"),
      option("model", "ID", "only that of this model"),
      option("provider", "NAME", "only that of this provider"),
      option("kind", "KIND", "only that of this kind"),
      option("top", "N", "only the N groups that cost most, and the sum of the others"),
      option("format", "FORMAT", "how it is printed", ["table", "json", "csv"]),
    ],
    examples: ["usage --from 2026-11-01 --group-by account,model", "usage --account acme --format csv"],
  }),
  command("reconcile", "", "the vendor's bill next to the ledger, and what can explain differences", {
    options: [
      ...ADMIN,
      option("provider", "NAME", "the provider whose vendor sends the bill; needs its report_key, or --file"),
      option("from", "DAY", "the first day, UTC, such as 2026-11-01"),
      option("to", "DAY", "the last day"),
      option("file", "PATH", "the vendor's invoice as CSV, in the place of its reports"),
      option("format", "FORMAT", "how it is printed", ["table", "json", "csv"]),
    ],
    examples: [
      "reconcile --provider openai --from 2026-11-01 --to 2026-11-30",
      "reconcile --provider groq --from 2026-11-01 --to 2026-11-30 --file invoice.csv --format csv",
    ],
  }),
  command("requests list", "", "list requests, newest first", {
    options: [...ADMIN, ...REQUEST_FILTERS, ORDER, ...PAGES, JSON_LINES],
    examples: ["requests list --status error --from 1h", "requests list --min-attempts 2 --status 2xx --json"],
  }),
  command("requests show", "ID", "show a request with every attempt", {
    options: ADMIN,
    examples: ["requests show req_0199"],
  }),
  command("requests bodies", "ID", "show the captured bodies of a request; needs the role owner", {
    options: ADMIN,
    examples: ["requests bodies req_0199"],
  }),
  command("requests tail", "", "print the requests of a running gateway as they end", {
    options: [...ADMIN, ...REQUEST_FILTERS, JSON_LINES],
    examples: ["requests tail", "requests tail --status 5xx"],
  }),
  command("explain", "ID", "describe in sentences what happened to a request, and its price", {
    options: [...ADMIN, JSON_LINES],
    examples: ["explain req_0199"],
  }),
  command("tasks list", "", "list video tasks", {
    options: [
      ...ADMIN,
      OF_ACCOUNT,
      option("status", "STATUS", "only those with this status"),
      option("model", "ID", "only those of this model"),
      ...TIMES,
      ORDER,
      ...PAGES,
    ],
    examples: ["tasks list --status failed"],
  }),
  command("tasks show", "ID", "show a task", { options: ADMIN, examples: ["tasks show task_1"] }),
  command("tasks cancel", "ID", "cancel a pending task, as its caller could", {
    options: ADMIN,
    examples: ["tasks cancel task_1"],
  }),
  command("tasks results", "ID", "show the addresses of a task's results", {
    options: ADMIN,
    examples: ["tasks results task_1"],
  }),
  command("tasks mirror", "ID", "copy the results of a finished task again", {
    options: ADMIN,
    examples: ["tasks mirror task_1"],
  }),
  command("batches list", "", "list batches, newest first", {
    options: [
      ...ADMIN,
      OF_ACCOUNT,
      option("status", "STATUS", "only those with this status"),
      ...TIMES,
      ORDER,
      ...PAGES,
    ],
    examples: ["batches list --status in_progress", "batches list --account acme --from 7d"],
  }),
  command("batches show", "ID", "show a batch with its counts, its failures and its money", {
    options: ADMIN,
    examples: ["batches show batch_1"],
  }),
  command("batches output", "ID", "print the results of a batch as JSONL; needs the role owner", {
    options: ADMIN,
    examples: ["batches output batch_1 > results.jsonl"],
  }),
  command("batches errors", "ID", "print the failed lines of a batch as JSONL; needs the role owner", {
    options: ADMIN,
    examples: ["batches errors batch_1"],
  }),
  command("batches cancel", "ID", "cancel a batch, as its caller could", {
    options: ADMIN,
    examples: ["batches cancel batch_1"],
  }),
  command("deliveries list", "", "list webhook deliveries", {
    options: [...ADMIN, option("state", "STATE", "only those in this state"), ...TIMES, ORDER, ...PAGES],
    examples: ["deliveries list --state exhausted"],
  }),
  command("deliveries show", "TASK", "show the webhook of a task with every attempt", {
    options: ADMIN,
    examples: ["deliveries show task_1"],
  }),
  command("deliveries request", "TASK", "show the request that the receiver would get now", {
    options: ADMIN,
    examples: ["deliveries request task_1"],
  }),
  command("deliveries redeliver", "TASK | --from TIME --to TIME", "start a new series of attempts now", {
    options: [
      ...ADMIN,
      ...TIMES,
      option("state", "STATE", "only those in this state", ["exhausted", "delivered"]),
      option("after", "NEXT", "continue where an earlier run ended"),
    ],
    examples: [
      "deliveries redeliver task_1",
      "deliveries redeliver --from 6h --to now --state exhausted",
    ],
  }),
  command("webhooks listen", "", "print and check new webhooks of a running gateway", {
    options: [...ADMIN, option("forward", "URL", "send them to an application under development"), OF_ACCOUNT],
    examples: ["webhooks listen --forward http://localhost:3000/webhooks"],
  }),
  command("webhooks trigger", "EVENT", 'create a test event for an address, or for "webhooks listen"', {
    options: [...ADMIN, option("url", "URL", "the receiver"), OF_ACCOUNT],
    examples: ["webhooks trigger video.generation.completed"],
  }),
  command("providers list", "", "show circuit breakers and counts of a running gateway", {
    options: ADMIN,
    examples: ["providers list"],
  }),
  command(
    "providers test",
    "NAME",
    "call the vendor, and say what is wrong; also without a running gateway",
    {
      options: [...ADMIN, option("credential", "NAME", "the credential to test")],
      examples: ["providers test openai"],
    },
  ),
  command("providers drain", "NAME", "send a provider no new requests; what it has begun ends, videos included", {
    options: STATE_OPTIONS,
    examples: ["providers drain openai"],
  }),
  command("providers off", "NAME", "as drain, and fail video tasks that wait for this provider only", {
    options: STATE_OPTIONS,
    examples: ["providers off openai"],
  }),
  command("providers on", "NAME", "send a provider requests again", {
    options: STATE_OPTIONS,
    examples: ["providers on openai"],
  }),
  command("providers reset", "NAME", "give a provider the state that the configuration states", {
    options: ADMIN,
    examples: ["providers reset openai"],
  }),
  command("prices diff", "", "show the price source, and the changes of prices that wait for you", {
    options: ADMIN,
    examples: ["prices diff"],
  }),
  command("prices refresh", "", "read the price source now", { options: ADMIN, examples: ["prices refresh"] }),
  command("prices apply", "MODEL…", "put changes of prices in use that wait", {
    options: [...ADMIN, flag("all", "all of them")],
    examples: ["prices apply openai/gpt-6-sol", "prices apply --all"],
  }),
  command("prices history", "", "list changes of prices, the newest first", {
    options: [...ADMIN, ...PAGES],
    examples: ["prices history --limit 50"],
  }),
  command("signing-keys rotate", "", "create a key for result addresses; the previous one stays valid", {
    options: ADMIN,
    examples: ["signing-keys rotate"],
  }),
];
