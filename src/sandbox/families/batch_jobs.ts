import { iteratorStream } from "../../platform/lib/streams/output_stream.ts";
import { RequestedBreak } from "../chunk_stream.ts";
import type { Call, VendorApi } from "../call.ts";
import { SimulatedError } from "../simulated_error.ts";
import type { SimulatedVendors } from "../simulated_vendors.ts";

/** What the lines of a batch order for its results. See `docs/sandbox.md`. */
export interface BatchDirectives {
  /** How long the batch takes. */
  readonly waitMs: number;
  /** The code with which the whole batch fails; null for none. */
  readonly fail: string | null;
  /** The first batch with these lines fails for now. */
  readonly isBusy: boolean;
  /** The batch expires when half of its lines were run. */
  readonly expires: boolean;
  /** The create breaks off after the batch was made. */
  readonly loses: boolean;
  /** The results end in the middle of a line. */
  readonly cuts: boolean;
  /** The results are gone. */
  readonly isGone: boolean;
  /** The results have a line of another batch. */
  readonly addsForeign: boolean;
}

/** What one line of a batch orders for its result. */
interface LineDirectives {
  readonly isMissing: boolean;
  readonly isDoubled: boolean;
  readonly isGarbage: boolean;
  readonly isBloated: boolean;
}

/** A line of a batch. */
export interface SimulatedLine {
  readonly id: string;
  /** The path of its endpoint after the vendor's prefix. */
  readonly path: string;
  /** JSON. */
  readonly text: string;
}

/** The result of a line: its HTTP reply, or why it was not run. */
export type LineResult =
  | { readonly id: string; readonly status: number; readonly body: unknown; readonly requestId: string }
  | { readonly id: string; readonly unrun: "cancelled" | "expired" };

/** A batch of one vendor. */
export interface SimulatedBatch {
  readonly id: string;
  /** The key that created it, as every key is its own organization. */
  readonly key: string;
  readonly createdAt: number;
  readonly lines: readonly SimulatedLine[];
  readonly directives: BatchDirectives;
  /** The create as it was sent. */
  readonly request: Readonly<Record<string, unknown>>;
  cancelledAt: number | null;
  /** Whether it was removed. */
  isRemoved: boolean;
  /** The results in their order; null until it has ended. */
  results: Promise<readonly LineResult[]> | null;
}

const batchesOf = new WeakMap<SimulatedVendors, SimulatedBatch[]>();

/** All batches of all keys and vendors, oldest first. */
function allBatches(vendors: SimulatedVendors): SimulatedBatch[] {
  const known = batchesOf.get(vendors);
  if (known !== undefined) return known;
  const batches: SimulatedBatch[] = [];
  batchesOf.set(vendors, batches);
  return batches;
}

/** The batches of the key of a call, newest first. */
export function ownBatches(call: Call): readonly SimulatedBatch[] {
  return allBatches(call.vendors).filter(({ key, isRemoved }) => key === keyOf(call) && !isRemoved).toReversed();
}

/** Makes a batch. Its lines are run when it ends. */
export function makeBatch(
  call: Call,
  made: Pick<SimulatedBatch, "id" | "lines" | "request">,
): SimulatedBatch {
  const ordered = readBatchDirectives(made.lines);
  const isRefused = ordered.isBusy && call.vendors.attemptsOf(`batch ${made.lines[0]?.text}`) === 1;
  const directives = isRefused ? { ...ordered, fail: "token_limit_exceeded" } : ordered;
  const createdAt = call.vendors.clock.now();
  const batch = {
    ...made,
    key: keyOf(call),
    createdAt,
    directives,
    cancelledAt: null,
    isRemoved: false,
    results: null,
  };
  allBatches(call.vendors).push(batch);
  return batch;
}

/** Breaks the response to a create off, if a line orders it. The batch was made. */
export function loseIfOrdered({ directives }: SimulatedBatch, response: Response): Response {
  if (!directives.loses) return response;
  return new Response(iteratorStream(broken()), { headers: response.headers });
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield await Promise.reject(new RequestedBreak());
}

function keyOf({ prefix, headers }: Call): string {
  const sent = headers.get("authorization") ?? headers.get("x-api-key") ?? headers.get("x-goog-api-key");
  return `${prefix} ${sent}`;
}

/** How a batch is at a moment. */
export type BatchPhase = "running" | "cancelling" | "completed" | "failed" | "cancelled" | "expired";

/** The time that a vendor needs to cancel. */
const CANCEL_MS = 300;

/** How a batch is now. */
export function phaseOf({ createdAt, cancelledAt, directives }: SimulatedBatch, now: number): BatchPhase {
  if (directives.fail !== null) return "failed";
  if (cancelledAt !== null) return now >= cancelledAt + CANCEL_MS ? "cancelled" : "cancelling";
  if (now < createdAt + directives.waitMs) return "running";
  return directives.expires ? "expired" : "completed";
}

/** Cancels a batch that runs. */
export function cancelBatch(batch: SimulatedBatch, now: number): void {
  if (phaseOf(batch, now) === "running") batch.cancelledAt = now;
}

/** The results of an ended batch. Its lines are run by the vendor's own endpoints, once. */
export async function resultsOf(batch: SimulatedBatch, api: VendorApi, call: Call): Promise<readonly LineResult[]> {
  return await (batch.results ??= runLines(batch, api, call));
}

async function runLines(batch: SimulatedBatch, api: VendorApi, call: Call): Promise<LineResult[]> {
  const { lines, directives: { expires, waitMs }, cancelledAt, createdAt } = batch;
  // The lines are run one after the other, in equal times.
  const share = cancelledAt === null ? (expires ? 0.5 : 1) : waitMs === 0 ? 1 : (cancelledAt - createdAt) / waitMs;
  const run = Math.floor(lines.length * share);
  const results: LineResult[] = [];
  for (const [index, line] of lines.entries()) {
    results.push(
      index < run
        ? await replyTo(line, api, call)
        : { id: line.id, unrun: cancelledAt === null ? "expired" : "cancelled" },
    );
  }
  return results;
}

async function replyTo({ id, path, text }: SimulatedLine, api: VendorApi, outer: Call): Promise<LineResult> {
  const requestId = `req_${outer.vendors.nextId()}`;
  const call: Call = { ...outer, method: "POST", path, query: new URLSearchParams(), text, form: null, requestId };
  let response: Response;
  try {
    response = await api.handle(call);
  } catch (error) {
    if (!(error instanceof SimulatedError)) throw error;
    response = api.writeError(error, call);
  }
  const body = await response.text();
  try {
    return { id, status: response.status, body: JSON.parse(body), requestId };
  } catch {
    return { id, status: response.status, body, requestId };
  }
}

const NO_DIRECTIVES: BatchDirectives = {
  waitMs: 0,
  fail: null,
  isBusy: false,
  expires: false,
  loses: false,
  cuts: false,
  isGone: false,
  addsForeign: false,
};

function readBatchDirectives(lines: readonly SimulatedLine[]): BatchDirectives {
  let directives = NO_DIRECTIVES;
  for (const [name, argument] of lines.flatMap(({ text }) => ordersIn(text))) {
    if (name === "wait") directives = { ...directives, waitMs: Number(argument) };
    else if (name === "fail") directives = { ...directives, fail: argument };
    else if (name === "busy") directives = { ...directives, isBusy: true };
    else if (name === "expire") directives = { ...directives, expires: true };
    else if (name === "lose") directives = { ...directives, loses: true };
    else if (name === "cut") directives = { ...directives, cuts: true };
    else if (name === "gone") directives = { ...directives, isGone: true };
    else if (name === "foreign") directives = { ...directives, addsForeign: true };
  }
  return directives;
}

/** Objects that no result has. They are 900 KB of text, and take a hundred times as much when they are parsed. */
const BLOAT_VALUES = 300_000;

/** What a line orders for its own result. */
function lineDirectivesOf({ text }: SimulatedLine): LineDirectives {
  const names = ordersIn(text).map(([name]) => name);
  const has = (name: string) => names.includes(name);
  return { isMissing: has("missing"), isDoubled: has("double"), isGarbage: has("garbage"), isBloated: has("bloated") };
}

/** The names and arguments of the directives of batches in a line. */
function ordersIn(text: string): readonly (readonly [name: string, argument: string])[] {
  return Array.from(text.matchAll(/\[\[batch ([a-z]+)(?: ([\w.-]{1,64}))?\]\]/g), ([, name = "", argument = ""]) => [
    name,
    argument,
  ]);
}

/**
 * Writes the results of a batch as a file, as its lines order it.
 *
 * @param write Writes a result as the vendor does.
 */
export function resultFile(
  { directives, lines }: SimulatedBatch,
  results: readonly LineResult[],
  write: (result: LineResult) => unknown,
): string {
  const byId = new Map(lines.map((line) => [line.id, lineDirectivesOf(line)]));
  const written = results.flatMap((result) => {
    const { isMissing = false, isDoubled = false, isGarbage = false, isBloated = false } = byId.get(result.id) ?? {};
    if (isMissing) return [];
    if (isGarbage) return ["<html>not a result</html>"];
    const line = JSON.stringify(write(result));
    if (isBloated) return [`${line.slice(0, -1)},"values":[${"{},".repeat(BLOAT_VALUES)}{}]}`];
    return isDoubled ? [line, line] : [line];
  });
  const [first] = results;
  if (directives.addsForeign && first !== undefined) {
    written.unshift(JSON.stringify(write({ ...first, id: "line-of-another-batch" })));
  }
  // In any order, as vendors state it.
  const text = written.toReversed().map((line) => `${line}\n`).join("");
  return directives.cuts ? text.slice(0, -Math.ceil((written[0]?.length ?? 0) / 2)) : text;
}
