import { loadConfig } from "../../../config/load_config.ts";
import { REQUEST_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { type AdminArguments, readAdminArguments } from "./admin_arguments.ts";
import { openAdminApi, type SendAdminCall } from "./admin_api.ts";
import type { AdminCall } from "./admin_call.ts";
import { explain } from "../../../observers/request_log/printed/explain.ts";
import { environmentOf } from "../environment.ts";
import { isConfigNamed } from "../find/find_gateway.ts";
import { type PrintedRequest, requestLine } from "../../../observers/request_log/printed/request_line.ts";
import { print, printError } from "../print.ts";
import { errorTextOf } from "./print_result.ts";
import { REQUEST_OPTIONS } from "./request_options.ts";
import { UsageError } from "../usage_error.ts";

const ROOT = REQUEST_ENDPOINTS.listRequests.path;
/** The most requests that one call returns. */
const PAGE_SIZE = 100;
const DEFAULT_LIMIT = 20;
/** Requests that `tail` shows of those that have ended already. */
const TAIL_START = 10;
const POLL_MS = 1_000;

/** A page of the admin API. */
interface Page {
  readonly data: readonly PrintedRequest[];
  readonly next: string | null;
}

/**
 * Runs `requests list`, `requests show ID`, `requests bodies ID`, `requests tail` and `explain ID`, which read the log
 * of requests.
 *
 * @returns The exit code.
 */
export async function requestsCommand(command: string, args: readonly string[]): Promise<number> {
  const { config: path, gateway, subcommand, rest } = readAdminArguments(command, args);
  const action = command === "explain" ? "explain" : subcommand;
  const run = command === "explain" ? explainAction(subcommand, rest) : actionFor(action, rest);
  rest.end();
  const config = loadConfig({ path, env: environmentOf(path) });
  const selection = { gateway, isConfigNamed: isConfigNamed(path) };
  const call: AdminCall = {
    method: "GET",
    path: ROOT,
    readsRequestLog: true,
    ...action === "tail" && { needsRunning: "new requests come only from a running gateway" },
  };
  const send = await openAdminApi(config, selection, call, printError);
  return await run(async (path) => await read(send, { ...call, path }));
}

/** Reads a path of the admin API; null after a failure, which is printed. */
type Read = (path: string) => Promise<unknown>;
type Action = (read: Read) => Promise<number>;

function actionFor(subcommand: string, rest: AdminArguments): Action {
  switch (subcommand) {
    case "list":
      return listAction(rest);
    case "show":
      return showAction(rest);
    case "bodies":
      return showAction(rest, "/bodies");
    case "tail":
      return tailAction(rest);
  }
  const problem = subcommand === "" ? "missing subcommand" : `unknown subcommand "${subcommand}"`;
  throw new UsageError(`switchyard requests: ${problem}: expected one of list, show, bodies, tail`);
}

function listAction(rest: AdminArguments): Action {
  const filter = [...filterIn(rest), ...orderIn(rest)];
  const limit = limitIn(rest);
  const start = rest.option("after");
  const isJson = rest.flag("json");
  return async (read) => {
    let left = limit;
    for (let after = start ?? null, isFirst = true; (isFirst || after !== null) && left > 0; isFirst = false) {
      const page = await readPage(read, filter, { limit: Math.min(left, PAGE_SIZE), after });
      if (page === null) return 1;
      for (const request of page.data) printRequest(request, isJson);
      left -= page.data.length;
      after = page.next;
    }
    return 0;
  };
}

/** @param part Of the request, below its address. Default: its facts. */
function showAction(rest: AdminArguments, part = ""): Action {
  const id = rest.word("request ID");
  return async (read) => {
    const request = await read(`${ROOT}/${encodeURIComponent(id)}${part}`);
    if (request === null) return 1;
    print(JSON.stringify(request, null, 2));
    return 0;
  };
}

/** Polls the admin API until the process is stopped or the gateway fails. */
function tailAction(rest: AdminArguments): Action {
  const filter = filterIn(rest);
  const isJson = rest.flag("json");
  return async (read) => {
    const latest = await readPage(read, filter, { limit: TAIL_START, after: null });
    if (latest === null) return 1;
    for (const request of latest.data.toReversed()) printRequest(request, isJson);
    let after = latest.data[0]?.position ?? systemClock.now() * 1_000;
    while (true) {
      const page = await readPage(read, [...filter, ["order", "asc"]], { limit: PAGE_SIZE, after: String(after) });
      if (page === null) return 1;
      for (const request of page.data) printRequest(request, isJson);
      after = page.data.at(-1)?.position ?? (page.next === null ? after : Number(page.next));
      if (page.next === null) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
}

function explainAction(id: string, rest: AdminArguments): Action {
  if (id === "") throw new UsageError("switchyard explain: missing argument: request ID");
  const isJson = rest.flag("json");
  return async (read) => {
    const request = await read(`${ROOT}/${encodeURIComponent(id)}`) as PrintedRequest | null;
    if (request === null) return 1;
    print(isJson ? JSON.stringify(request, null, 2) : explain(request).join("\n"));
    return 0;
  };
}

function printRequest(request: PrintedRequest, isJson: boolean): void {
  print(isJson ? JSON.stringify(request) : requestLine(request));
}

async function read(send: SendAdminCall, call: AdminCall): Promise<unknown> {
  const { status, body } = await send(call);
  if (status < 400) return body;
  printError(errorTextOf({ status, body }));
  return null;
}

type Filter = readonly (readonly [string, string])[];

async function readPage(
  read: Read,
  filter: Filter,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<Page | null> {
  const query = new URLSearchParams([...filter.map(([name, value]) => [name, value]), ["limit", String(limit)]]);
  if (after !== null) query.set("after", after);
  return await read(`${ROOT}?${query}`) as Page | null;
}

function filterIn(rest: AdminArguments): Filter {
  return [...REQUEST_OPTIONS].flatMap(([option, name]) => {
    const value = name === "from" || name === "to" ? instantIn(rest, name) : rest.option(option);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** In the form that the admin API takes, to the millisecond. */
function instantIn(rest: AdminArguments, name: "from" | "to"): string | undefined {
  const time = rest.time(name);
  return time === undefined ? undefined : new Date(time).toISOString();
}

function orderIn(rest: AdminArguments): Filter {
  const order = rest.option("order");
  return order === undefined ? [] : [["order", order]];
}

function limitIn(rest: AdminArguments): number {
  const text = rest.option("limit") ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw new UsageError("switchyard requests list: --limit: expected a whole number from 1 to 999999");
  }
  return Number(text);
}
