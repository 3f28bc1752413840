/**
 * Measures the reads behind the console's lists and charts with a million requests in the log and 90 days of usage;
 * writes `bench/RESULTS-console.md`.
 *
 *     deno task bench:console     about five minutes; also --requests N and --rounds N
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { startApp } from "../src/entry/app/app.ts";
import { openStore } from "../src/entry/app/opening/store.ts";
import { DAY_MS, usageKey, type UsageSource } from "../src/money/billing/usage/usage_records.ts";
import { UsageRollup } from "../src/money/billing/usage/usage_rollup.ts";
import { type Config, readConfig } from "../src/config/config.ts";
import { systemClock } from "../src/platform/lib/basics/clock.ts";
import { newRequestId } from "../src/platform/lib/basics/ids.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import type { RowValue } from "../src/observers/request_log/row.ts";
import { LogFile } from "../src/observers/request_log/sqlite/log_file.ts";
import { describeMachine } from "./machine.ts";
import { figure, table } from "./markdown.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS-console.md", import.meta.url));
const ADMIN_KEY = "admin-key-of-the-benchmark";
const ROWS_PER_APPEND = 8_000;
const LOG_DAYS = 29;
const USAGE_DAYS = 90;
/** One request of so many has facts that few others have. */
const RARE_EVERY = 50_000;
/** In units of money: 2 USD. */
const COST_OF_RARE = "20000000000";
const ACCOUNTS = 200;
const MODELS = 30;
const PROVIDERS = 6;
/** The targets at the 95th percentile in milliseconds. */
const LIST_MS = 200;
const CHART_MS = 500;

const FAILURES = [
  { status: 429, code: "rate_limited", message: "Cannot accept the request: the key may send 60 requests per minute" },
  { status: 502, code: "upstream_error", message: "The engine is overloaded, please try again later" },
] as const;

/** One read of the console. */
interface Read {
  readonly title: string;
  /** Below `/admin/v1`; `round` differs, so that no two reads are the same. */
  readonly path: (round: number) => string;
  /** Null for one that has no target. */
  readonly targetMs: number | null;
}

const now = Date.now();
const pick = (of: number) => Math.floor(Math.random() * of);
const accountOf = (place: number) => `account-${place}`;
const modelOf = (place: number) => `vendor-${place % PROVIDERS}/model-${place}`;
const secondsBefore = (days: number) => Math.floor((now - days * DAY_MS) / 1_000);

const LISTS: readonly Read[] = [
  { title: "Newest", path: () => "/requests?limit=50", targetMs: LIST_MS },
  { title: "Of an account", path: () => `/requests?limit=50&account=${accountOf(pick(ACCOUNTS))}`, targetMs: LIST_MS },
  { title: "Of a model", path: () => `/requests?limit=50&model=${modelOf(pick(MODELS))}`, targetMs: LIST_MS },
  { title: "By provider", path: () => `/requests?limit=50&provider=vendor-${pick(PROVIDERS)}`, targetMs: LIST_MS },
  { title: "All errors", path: () => "/requests?limit=50&status=error", targetMs: LIST_MS },
  { title: "Status 429", path: () => "/requests?limit=50&status=429", targetMs: LIST_MS },
  { title: "Code upstream_error", path: () => "/requests?limit=50&code=upstream_error", targetMs: LIST_MS },
  {
    title: "A day in the middle",
    path: () => {
      const from = 1 + pick(LOG_DAYS - 2);
      return `/requests?limit=50&from=${secondsBefore(from + 1)}&to=${secondsBefore(from)}`;
    },
    targetMs: LIST_MS,
  },
  { title: "Text in messages", path: () => "/requests?limit=50&q=overloaded", targetMs: LIST_MS },
  {
    title: "Text that no error has, in the whole log",
    path: (round) => `/requests?limit=50&q=nothing+has+${"x".repeat(1 + round)}`,
    targetMs: LIST_MS,
  },
  { title: "A whole id", path: () => `/requests?limit=50&q=${pickedId()}`, targetMs: LIST_MS },
  {
    title: "Part of an id that no request has",
    path: (round) => `/requests?limit=50&q=no-id-has-${round}`,
    targetMs: LIST_MS,
  },
  ...listsBy("endpoint", ["/v1/chat/completions", "/v1/audio/speech", "/v1/none"]),
  ...listsBy("kind", ["text", "speech", "none"]),
  ...listsBy("end", ["completed", "left", "cut"]),
  ...listsBy("dropped", ["logit_bias", "seed", "none"]),
  ...listsBy("client_address", ["192.0.2.7", "198.51.100.1", "203.0.113.1"]),
  ...listsBy("min_duration_ms", ["1000", "60000", "3600000"]),
  ...listsBy("min_cost", ["0.001", "1", "1000"]),
  ...listsBy("min_first_byte_ms", ["25", "40000", "3600000"]),
  ...listsBy("min_input_tokens", ["1200", "1000000", "10000000"]),
  ...listsBy("min_attempts", ["1", "2", "3"]),
  ...listsBy("attempt_code", ["rate_limited", "timeout", "none"]),
  ...listsBy("refusal_limit", ["rpm", "budget", "concurrency"]),
  ...listsBy("protocol", ["default", "message", "content"]),
  {
    title: "An account's requests of an address that none has",
    path: () => `/requests?limit=50&account=${accountOf(pick(ACCOUNTS))}&client_address=203.0.113.1`,
    targetMs: LIST_MS,
  },
];

/** Lists that a read leaves incomplete. */
const SEARCHES = LISTS.filter(({ title }) => /which (few|no) requests have|Part of an id/.test(title));
const SEARCH_ROUNDS = 5;

/** Requests with a value that many have, one that {@linkcode RARE_EVERY} have, and one that none has. */
function listsBy(parameter: string, values: readonly [many: string, few: string, none: string]): Read[] {
  return values.map((value, place) => ({
    title: `By ${parameter}, which ${["many", "few", "no"][place]} requests have`,
    path: () => `/requests?limit=50&${parameter}=${encodeURIComponent(value)}`,
    targetMs: LIST_MS,
  }));
}

/** The ids of some requests in the log. */
const someIds: string[] = [];

function pickedId(): string {
  return someIds[pick(someIds.length)] ?? "";
}

const CHARTS: readonly Read[] = [
  ...(["hour", "day", "week", "month"] as const).map((span): Read => ({
    title: `Overview, last ${span}`,
    path: () => `/traffic?span=${span}`,
    targetMs: CHART_MS,
  })),
  ...(["7", "30", "90"] as const).map((days): Read => ({
    title: `Usage by model and day, ${days} days`,
    path: () => `/usage?group_by=model,day&from=${dayBefore(Number(days) - 1)}&limit=1000`,
    targetMs: CHART_MS,
  })),
  ...(["30", "90"] as const).map((days): Read => ({
    title: `Usage by account, ${days} days`,
    path: () => `/usage?group_by=account&from=${dayBefore(Number(days) - 1)}&limit=1000`,
    targetMs: CHART_MS,
  })),
  ...(["7", "30", "90"] as const).map((days): Read => ({
    title: `Usage by account and day, ${days} days, the top 7`,
    path: () => `/usage?group_by=day,account&from=${dayBefore(Number(days) - 1)}&limit=1000&top=7`,
    targetMs: CHART_MS,
  })),
];

function dayBefore(days: number): string {
  return new Date(now - days * DAY_MS).toISOString().slice(0, 10);
}

const { values } = parseArgs({
  options: { requests: { type: "string", default: "1000000" }, rounds: { type: "string", default: "100" } },
});
const [requests, rounds] = [Number(values.requests), Number(values.rounds)];

const folder = await Deno.makeTempDir({ prefix: "switchyard-bench-" });
try {
  const machine = await describeMachine(folder);
  const config = configIn(folder);
  fillLog(join(folder, "requests.sqlite"));
  const groups = await fillUsage(config);
  const report = await measureAll(config);
  const text = `# Results: reads of the console

${figure(requests)} requests in the log, ${
    figure(groups)
  } sums of usage over ${USAGE_DAYS} days, ${rounds} reads of each
kind over HTTP, one after the other, on ${new Date(now).toISOString().slice(0, 10)}: ${machine.cpu}, ${machine.cores} \
cores, ${machine.system}, Deno ${machine.deno}. ${load()}

The targets are ${LIST_MS} ms for a page of 50 requests and ${CHART_MS} ms for a chart, at the 95th percentile.

${report}

Usage of past days is read from copies of their sums, that of today from the sums themselves. A text that no error has
is looked for in the index of errors, 2 % of the requests. Facts without an index, and parts of ids, are looked for in
all requests: a read returns what it found in 100 ms, and a \`next\` that continues it. The console reads on until it has
a page of requests, or the log ends, which is in the last table. One request in 50,000 has the facts that few have.
`;
  if (requests >= 1_000_000) await Deno.writeTextFile(RESULTS, text);
  console.log(text);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** Other work on the machine makes every read longer. */
function load(): string {
  const [minute = 0] = Deno.loadavg();
  return `The load average of the machine was ${figure(minute, 1)} at the end.`;
}

function configIn(path: string): Config {
  const tree = {
    server: { port: 0, isolates: 1, admin_key: ADMIN_KEY },
    store: `kv:${join(path, "store.db")}`,
    files: join(path, "files"),
    request_log: { enabled: true, path: join(path, "requests.sqlite"), days: 90, max_bytes: "20GB" },
    providers: {},
    models: [],
  };
  return readConfig(JSON.stringify(tree), "bench.json", () => undefined);
}

/** Writes requests that ended evenly over the last days: two in a hundred failed. */
function fillLog(path: string): void {
  const file = new LogFile(path);
  const stepMs = LOG_DAYS * DAY_MS / requests;
  const row: RowValue[] = [];
  for (let count = 0; count < requests; count++) {
    const id = addRow(row, Math.floor(now - LOG_DAYS * DAY_MS + count * stepMs), count);
    if (count % 1_000 === 0) someIds.push(id);
    if ((count + 1) % ROWS_PER_APPEND !== 0) continue;
    file.append(row);
    row.length = 0;
  }
  file.append(row);
  file.close();
}

/** Returns the id. */
function addRow(row: RowValue[], endedAt: number, count: number): string {
  // Failed requests have no cost.
  const isRare = count % RARE_EVERY === RARE_EVERY / 2 + 1;
  const durationMs = isRare ? 90_000 : 50 + pick(3_000);
  const receivedAt = endedAt - durationMs;
  const [account, model] = [pick(ACCOUNTS), pick(MODELS)];
  const provider = `vendor-${model % PROVIDERS}`;
  const failure = count % 50 === 0 ? FAILURES[pick(FAILURES.length)] ?? null : null;
  const attempt = (code: string | null = failure?.code ?? null) => [
    provider,
    null,
    `model-${model}`,
    receivedAt + 1,
    durationMs - 2,
    failure?.status ?? 200,
    `req-${pick(1e9)}`,
    code,
    failure?.message ?? null,
  ];
  const tokens = failure !== null ? null : isRare ? [2_000_000, 0, 0, 300, 0] : [1_200, 0, 0, 300, 0];
  const limit = failure?.status === 429 ? count % RARE_EVERY === 0 ? "budget" : "rpm" : null;
  const facts = [
    receivedAt,
    durationMs >> 1,
    "POST",
    isRare ? "/msgcompat/v1/messages" : "/v1/chat/completions",
    isRare ? "/v1/audio/speech" : 0,
    isRare ? "speech" : "text",
    failure !== null ? null : isRare ? "left" : "completed",
    tokens,
    0,
    0,
    failure !== null ? null : isRare ? COST_OF_RARE : "18000000",
    failure === null ? "prompt 1200 1000000000000\ncompletion 300 2000000000000" : "",
    2_048,
    1_024,
    isRare ? "198.51.100.1" : "192.0.2.7",
    [],
    isRare ? ["seed"] : count % 10 === 0 ? ["logit_bias"] : [],
    ["331600000", 17_184],
    limit === null ? null : { holder: "key", limit, value: "60", resetAt: null },
  ];
  const id = newRequestId(receivedAt);
  row.push(
    endedAt,
    id,
    accountOf(account),
    `key_${account}`,
    modelOf(model),
    modelOf(model),
    provider,
    failure?.status ?? 200,
    failure?.code ?? null,
    failure?.message ?? null,
    JSON.stringify(isRare ? [attempt("timeout"), attempt()] : [attempt()]),
    JSON.stringify(facts),
  );
  return id;
}

/** Writes what accounts used on each day, as the ledger is summed up. Returns the number of sums. */
async function fillUsage(config: Config): Promise<number> {
  const store = await openStore(config, { clock: systemClock, log: silentLog });
  const today = Math.floor(now / DAY_MS);
  let written = 0;
  for (let day = today - USAGE_DAYS + 1; day <= today; day++) {
    const set = Array.from({ length: ACCOUNTS * 3 }, (_, place) => {
      const account = accountOf(place % ACCOUNTS);
      const model = modelOf(Math.floor(place / ACCOUNTS) * 10 + place % 10);
      const source: UsageSource = { key: `key_${place % ACCOUNTS}`, model, provider: "vendor-0", kind: "text" };
      const counts = [11, 0, 12_000, 0, 0, 3_000, 0, 0, 0, 0];
      return { key: usageKey(day, account, source), value: { ...source, cost: 198_000_000n, counts } };
    });
    written += set.length;
    await store.commit(null, { set });
  }
  await new UsageRollup({ store, clock: systemClock, log: silentLog }).copyDays();
  await store.close();
  return written;
}

async function measureAll(config: Config): Promise<string> {
  const app = await startApp({ config, log: silentLog });
  try {
    const parts: string[] = [];
    for (const [title, reads] of [["Lists", LISTS], ["Charts", CHARTS]] as const) {
      const rows: string[][] = [];
      for (const read of reads) rows.push(await measure(app.address, read));
      parts.push(table([title, "p50 ms", "p95 ms", "most ms", "target ms", "met"], rows));
    }
    const searches: string[][] = [];
    for (const read of SEARCHES) searches.push(await measureSearch(app.address, read));
    parts.push(table(["Searches to the end of the log", "found", "reads", "p50 ms", "most ms"], searches));
    return parts.join("\n\n");
  } finally {
    await app.stop();
  }
}

async function read(address: string, path: string): Promise<string> {
  const response = await fetch(`${address}/admin/v1${path}`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  const body = await response.text();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${body}`);
  return body;
}

/** The duration at a share of the sorted durations. */
function quantiles(times: number[]): (share: number) => number {
  times.sort((one, other) => one - other);
  return (share) => times[Math.min(times.length - 1, Math.ceil(times.length * share) - 1)] ?? 0;
}

/** Reads page after page, as the console does, until the log ends. */
async function measureSearch(address: string, { title, path }: Read): Promise<string[]> {
  const times: number[] = [];
  let [reads, found] = [0, 0];
  for (let round = 0; round < SEARCH_ROUNDS; round++) {
    const from = performance.now();
    [reads, found] = [0, 0];
    let after: string | null = "";
    while (after !== null) {
      const { data, next } = JSON.parse(await read(address, path(round) + (after === "" ? "" : `&after=${after}`)));
      [reads, found, after] = [reads + 1, found + data.length, next];
    }
    times.push(performance.now() - from);
  }
  const at = quantiles(times);
  return [title, figure(found), figure(reads), figure(at(0.5)), figure(at(1))];
}

async function measure(address: string, { title, path, targetMs }: Read): Promise<string[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    await read(address, path(round));
    times.push(performance.now() - from);
  }
  const at = quantiles(times);
  const isMet = targetMs === null ? "–" : at(0.95) <= targetMs ? "yes" : "no";
  return [title, figure(at(0.5), 1), figure(at(0.95), 1), figure(at(1), 1), figure(targetMs), isMet];
}
