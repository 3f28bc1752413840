import { OPERATOR_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import { loadConfig } from "../../../config/load_config.ts";
import { openAdminApi, type SendAdminCall } from "./admin_api.ts";
import { type AdminArguments, readAdminArguments } from "./admin_arguments.ts";
import type { AdminCall } from "./admin_call.ts";
import { environmentOf } from "../environment.ts";
import { isConfigNamed } from "../find/find_gateway.ts";
import { printError } from "../print.ts";
import { printResult } from "./print_result.ts";
import { tableText } from "../table.ts";
import { UsageError } from "../usage_error.ts";

/** A group of usage, or the total, as the admin API returns it. */
type UsageRow = Readonly<Record<string, string | number | null>>;

interface UsageBody {
  readonly data: readonly UsageRow[];
  /** With `--top`. */
  readonly others?: readonly UsageRow[];
  readonly total: UsageRow;
  readonly next: string | null;
}

const FORMATS: readonly string[] = ["table", "json", "csv"];
const PAGE = 1_000;
const DEFAULT_GROUPS = "model";

/**
 * Runs `usage`: sums of charges and captures, as a table, JSON or CSV.
 *
 * @param args The arguments after the command.
 * @returns The exit code.
 */
export async function usageCommand(args: readonly string[]): Promise<number> {
  const { config: path, gateway, subcommand, rest } = readAdminArguments("usage", args);
  if (subcommand !== "") throw new UsageError(`switchyard usage: unexpected argument "${subcommand}"`);
  const format = rest.option("format") ?? "table";
  if (!FORMATS.includes(format)) throw new UsageError("switchyard usage: expected --format table, json or csv");
  const query = queryOf(rest);
  rest.end();
  const config = loadConfig({ path, env: environmentOf(path) });
  const call = callOf(query, format === "csv" ? { format } : {});
  const send = await openAdminApi(config, { gateway, isConfigNamed: isConfigNamed(path) }, call, printError);
  if (format === "csv") return printResult(await send(call), (body) => String(body).replace(/\r\n$/, ""));
  const result = await readAll(send, query);
  return printResult(result, (body) => format === "json" ? JSON.stringify(body, null, 2) : tableOf(body as UsageBody));
}

function queryOf(args: AdminArguments): Readonly<Record<string, string>> {
  const query: Record<string, string> = { group_by: args.option("group-by") ?? DEFAULT_GROUPS };
  for (const name of ["from", "to", "account", "key", "model", "provider", "kind", "top"] as const) {
    const value = name === "from" || name === "to" ? args.day(name) : args.option(name);
    if (value !== undefined) query[name] = value;
  }
  return query;
}

function callOf(query: Readonly<Record<string, string>>, more: Readonly<Record<string, string>>): AdminCall {
  return { method: "GET", path: `${OPERATOR_ENDPOINTS.readUsage.path}?${new URLSearchParams({ ...query, ...more })}` };
}

/** All pages as one; the first answer that is an error ends it. */
async function readAll(send: SendAdminCall, query: Readonly<Record<string, string>>) {
  const data: UsageRow[] = [];
  let after: Readonly<Record<string, string>> = {};
  // Ends with the last page.
  for (;;) {
    const result = await send(callOf(query, { limit: String(PAGE), ...after }));
    if (result.status >= 400) return result;
    const { data: page, next, ...sums } = result.body as UsageBody;
    appendAll(data, page);
    if (next === null) return { ...result, body: { data, ...sums } };
    after = { after: next };
  }
}

/** A table with a line of totals. Columns of sums in which all are zero are left out, but for requests and cost. */
function tableOf({ data, others = [], total }: UsageBody): string {
  const sums = Object.keys(total);
  const groups = Object.keys(data[0] ?? {}).filter((name) => !sums.includes(name));
  const shown = [
    "requests",
    ...sums.filter((name) => name !== "requests" && name !== "cost" && Number(total[name]) !== 0),
  ];
  const columns = [...groups, ...shown, "cost"];
  const head = columns.map((name) => name.replaceAll("_", " ").toUpperCase());
  const lines = [...data, ...others.map((row) => namedOthers(row, groups))].map((row) =>
    columns.map((name) => cellOf(row[name]))
  );
  const last = columns.map((name, place) => place < groups.length ? (place === 0 ? "TOTAL" : "") : cellOf(total[name]));
  const rows = groups.length === 0 ? [head, last] : [head, ...lines, last];
  return tableText(rows, groups.length);
}

/** A sum of the groups that `--top` leaves out, with a name in the first column that it has no value for. */
function namedOthers(row: UsageRow, groups: readonly string[]): UsageRow {
  const name = groups.find((group) => !(group in row));
  return name === undefined ? row : { ...row, [name]: "others" };
}

/** An unknown key is a hyphen. */
function cellOf(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === "" ? "-" : String(value);
}
