import { loadConfig } from "../../../config/load_config.ts";
import { OPERATOR_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import { MAX_INVOICE_CHARACTERS } from "../../../vendors/reconciliation/invoice.ts";
import { openAdminApi } from "./admin_api.ts";
import { readAdminArguments } from "./admin_arguments.ts";
import type { AdminCall } from "./admin_call.ts";
import { environmentOf } from "../environment.ts";
import { isConfigNamed } from "../find/find_gateway.ts";
import { printError } from "../print.ts";
import { printResult } from "./print_result.ts";
import { tableText } from "../table.ts";
import { UsageError } from "../usage_error.ts";

/** Sums of one side, as far as the table shows them. */
interface Side {
  readonly cost: string;
  readonly requests: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}

interface Compared {
  readonly theirs: Side;
  readonly ours: Side;
  readonly difference: Side;
}

/** What the admin API returns, as far as the table shows it. */
interface Body {
  readonly total: Compared;
  readonly days: readonly { readonly day: string; readonly state: string }[];
  readonly explanations: readonly {
    readonly day: string | null;
    readonly model: string;
    readonly difference: string;
    readonly reasons: readonly { readonly text: string; readonly requests: readonly string[] }[];
  }[];
  readonly data: readonly (Compared & { readonly day: string | null; readonly model: string })[];
}

const FORMATS: readonly string[] = ["table", "json", "csv"];
const NEEDS_RUNNING = "only a running gateway reads the bills of vendors";

/**
 * Runs `reconcile`: the vendor's bill next to the ledger, as a table, JSON or CSV.
 *
 * @param args The arguments after the command.
 * @returns The exit code.
 */
export async function reconcileCommand(args: readonly string[]): Promise<number> {
  const { config: path, gateway, subcommand, rest } = readAdminArguments("reconcile", args);
  if (subcommand !== "") throw new UsageError(`switchyard reconcile: unexpected argument "${subcommand}"`);
  const format = rest.option("format") ?? "table";
  if (!FORMATS.includes(format)) throw new UsageError("switchyard reconcile: expected --format table, json or csv");
  const required = (name: "provider" | "from" | "to", example: string) => {
    const value = name === "provider" ? rest.option(name) : rest.day(name);
    if (value === undefined) throw new UsageError(`switchyard reconcile: missing option: --${name} ${example}`);
    return value;
  };
  const bill = {
    provider: required("provider", "NAME"),
    from: required("from", "2026-11-01"),
    to: required("to", "2026-11-30"),
    ...format === "csv" && { format },
  };
  const file = rest.option("file");
  rest.end();
  const call = callOf(bill, file === undefined ? null : await readInvoiceFile(file));
  const config = loadConfig({ path, env: environmentOf(path) });
  const send = await openAdminApi(config, { gateway, isConfigNamed: isConfigNamed(path) }, call, printError);
  return printResult(await send(call), (body) => writtenAs(format, body));
}

function callOf(bill: Readonly<Record<string, string>>, invoice: string | null): AdminCall {
  const { path } = OPERATOR_ENDPOINTS.reconcile;
  return invoice === null
    ? { method: "GET", path: `${path}?${new URLSearchParams(bill)}`, needsRunning: NEEDS_RUNNING }
    : { method: "POST", path, body: { ...bill, invoice }, needsRunning: NEEDS_RUNNING };
}

async function readInvoiceFile(path: string): Promise<string> {
  let text: string;
  try {
    const { size } = await Deno.stat(path);
    if (size > MAX_INVOICE_CHARACTERS) {
      throw new UsageError(`switchyard reconcile: expected a file of at most ${MAX_INVOICE_CHARACTERS} bytes`);
    }
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`switchyard reconcile: cannot read "${path}": ${(error as Error).message}`);
  }
  return text;
}

function writtenAs(format: string, body: unknown): string {
  if (format === "csv") return String(body).replace(/\r\n$/, "");
  return format === "json" ? JSON.stringify(body, null, 2) : reportOf(body as Body);
}

/** The table, the days that are left out, and what can explain the largest differences. */
function reportOf({ data, total, days, explanations }: Body): string {
  const head = ["DAY", "MODEL", "THEIRS", "OURS", "DIFFERENCE", "REQUESTS", "INPUT TOKENS", "OUTPUT TOKENS"];
  const cells = ({ theirs, ours, difference }: Compared) => [
    theirs.cost,
    ours.cost,
    difference.cost,
    ...[difference.requests, difference.input_tokens, difference.output_tokens].map(countText),
  ];
  const lines = data.map((row) => [row.day ?? "-", row.model, ...cells(row)]);
  const parts = [tableText([head, ...lines, ["TOTAL", "", ...cells(total)]], 2)];
  const marked = days.filter(({ state }) => state !== "complete");
  if (marked.length > 0) parts.push(marked.map(({ day, state }) => `${day}: ${state.replaceAll("_", " ")}`).join("\n"));
  for (const { day, model, difference, reasons } of explanations) {
    const texts = reasons.map(({ text, requests }) => {
      return `  - ${text}${requests.length === 0 ? "" : `\n    requests: ${requests.join(", ")}`}`;
    });
    parts.push([`${model}${day === null ? "" : ` on ${day}`}: ${difference} USD`, ...texts].join("\n"));
  }
  return parts.join("\n\n");
}

/** A difference of counts: requests, then tokens. A hyphen if one side does not state it. */
function countText(count: number | null): string {
  return count === null ? "-" : count > 0 ? `+${count}` : String(count);
}
