import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { listLedgerEntries } from "../../../src/money/billing/ledger/ledger.ts";
import { readHold } from "../../../src/money/billing/hold.ts";
import { type Money, readMoney, writeMoney } from "../../../src/platform/lib/basics/money.ts";
import type { StoreEngine } from "../../../src/platform/store/engine.ts";
import { callerOf, type GatewayCall } from "../../support/gateway_call.ts";
import { atLeast } from "../../support/items.ts";
import { stateOf, withPatience } from "../../support/patience.ts";
import type { LoadTarget } from "./load.ts";
import type { ReportedTask, VideoFacts } from "./video_facts.ts";
import { SECOND_PRICE } from "./video_orders.ts";
import type { SeenVideos } from "./video_vendors.ts";

/** The gateway limits reads, which many pages exceed on a fast machine. */
const RATE_PAUSE_MS = 1_000;

/** Waits until all tasks have ended, their events were acknowledged and their results copied. Returns all tasks. */
export async function settledTasks(target: LoadTarget, facts: VideoFacts): Promise<ReportedTask[]> {
  const call = callerOf(target.address, { authorization: `Bearer ${target.key}` });
  const isUnsettled = ({ id, status }: ReportedTask) => status === "pending" || facts.outdated.has(id);
  await stateOf("every task has ended", async () => (await allTasks(call)).filter(isUnsettled), isEmpty);
  const tasks = await allTasks(call);
  for (const task of tasks) facts.recordTask(task, facts.knownOf(task.id));
  const expected = tasks.filter((task) => hasCallback(facts, task)).map(({ id, status }) => `${id}-${status}`);
  await stateOf("every event was delivered", () => expected.filter((key) => !facts.taken.has(key)), isEmpty);
  // Files past their retention are removed in the same passes.
  const admin = callerOf(target.address, { authorization: `Bearer ${target.adminKey}` });
  for (const { id } of tasks) {
    const read = () => admin("GET", `/admin/v1/tasks/${id}`);
    await stateOf(`${id} is copied`, read, ({ json }) => json.is_copying === false);
  }
  return await allTasks(call);
}

/** Every copy address of a task can be opened. */
export async function assertMirrorsOpen(tasks: readonly ReportedTask[], { withoutFiles }: VideoFacts): Promise<void> {
  for (const task of tasks) {
    const { id, status, mirror_urls: urls = [] } = task;
    const isCopied = status === "completed" && !withoutFiles.has(id);
    assertEquals(urls.length > 0, isCopied, `${id} is ${status} and has ${urls.length} copies`);
    for (const url of copiesOf(task)) {
      const answer = await withPatience(url, fetch(url));
      assertEquals([answer.status, (await answer.bytes()).length > 0], [200, true], url);
    }
  }
}

/** Every acknowledged task exists once and has the status reported before. */
export function assertNothingLost(tasks: readonly ReportedTask[], facts: VideoFacts): void {
  assertEquals(facts.contradictions, []);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const [number, ids] of facts.created) {
    assertEquals(ids.size, 1, `order ${number} stands for one task: ${[...ids]}`);
    const [id] = atLeast(ids, 1);
    const isPurged = facts.purges.get(id);
    if (isPurged === true) assert(!byId.has(id), `${id} was removed and is there`);
    if (isPurged === undefined) assert(byId.has(id), `${id} was acknowledged and is not there`);
  }
  const numbers = tasks.map(({ metadata }) => Number(metadata.number));
  assertEquals(new Set(numbers).size, numbers.length, "no order became two tasks");
  for (const [key, bodies] of facts.events) assertEquals(bodies.size, 1, `event ${key} had one body`);
}

/** No vendor generated a task twice, and unknown outcomes at searchable vendors were resolved. */
export function assertMadeOnce(tasks: readonly ReportedTask[], facts: VideoFacts, seen: SeenVideos): void {
  for (const order of facts.orders.values()) {
    assertLessOrEqual(seen.made(order), 1, `at its vendor: ${order.body}`);
  }
  for (const task of tasks) {
    const order = facts.orders.get(Number(task.metadata.number))!;
    if (task.status === "completed") assertEquals(seen.made(order), 1, `${task.id} at its vendor`);
    if (task.status === "completed" && order.model.isSearchable) assertEquals(seen.madeFor(task.id, order), 1, task.id);
    if (task.error?.code === "outcome_unknown") assert(!order.model.isSearchable, `${task.id} could be searched for`);
  }
}

/**
 * Each task's hold ended once according to its status, and the account's sum matches. Returns the cost of all videos.
 */
export async function assertVideosPaid(
  store: StoreEngine,
  account: string,
  tasks: readonly ReportedTask[],
  facts: VideoFacts,
): Promise<Money> {
  const lines = await videoLines(store, account);
  let total = 0n;
  for (const [id, operations] of lines) {
    assertEquals(operations.length, 2, `${id} has one hold and one end`);
    const [hold, end] = atLeast(operations, 2);
    assertEquals([hold.operation, hold.held + end.held], ["hold", 0n], `the hold of ${id} is closed`);
    total -= hold.available + end.available;
    const cost = writeMoney(-(hold.available + end.available));
    const told = facts.ends.get(id);
    if (told !== undefined) assert(told.includes(` for ${cost} (`), `${id} paid ${cost} and was ${told}`);
  }
  for (const { id, status, usage } of tasks) {
    const price = readMoney(SECOND_PRICE) * BigInt(usage.video_seconds);
    assertEquals(readMoney(usage.video_cost), status === "completed" ? price : 0n, `${id} is ${status}`);
    assert(lines.has(id), `${id} has no hold`);
    assert((await readHold(store, id))?.state !== "open", `the hold of ${id} is closed`);
  }
  return total;
}

/** Every file is a copy of a task. */
export function assertNoStrayFiles(folder: string, tasks: readonly ReportedTask[]): void {
  const named = new Set(tasks.flatMap((task) => copiesOf(task).map(fileOf)));
  const there = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name);
  assertEquals(there.filter((name) => !named.has(name)), [], "no file belongs to nobody");
  assertEquals([...named].filter((name) => !there.includes(name)), [], "every copy is there");
}

/** Returns the addresses of all copies: of the results, and of the pictures that a vendor adds to them. */
function copiesOf({ mirror_urls = [], thumbnail_mirror_url, last_frame_mirror_url }: ReportedTask): string[] {
  return [...mirror_urls, thumbnail_mirror_url, last_frame_mirror_url].filter((url) => url !== undefined);
}

function fileOf(url: string): string {
  return new URL(url).pathname.split("/").at(-1)!;
}

function hasCallback({ orders }: VideoFacts, { metadata }: ReportedTask): boolean {
  return orders.get(Number(metadata.number))?.body.includes("callback_url") ?? false;
}

function isEmpty(values: readonly unknown[]): boolean {
  return values.length === 0;
}

async function allTasks(call: GatewayCall): Promise<ReportedTask[]> {
  const tasks: ReportedTask[] = [];
  for (let after = "";;) {
    const { status, json } = await call("GET", `/v1/videos?limit=100${after}`);
    if (status === 429) {
      await new Promise((resolve) => setTimeout(resolve, RATE_PAUSE_MS));
      continue;
    }
    tasks.push(...json.data);
    if (json.next === null) return tasks;
    after = `&after=${json.next}`;
  }
}

type VideoLine = Awaited<ReturnType<typeof listLedgerEntries>>["lines"][number];

/** Returns the ledger entries of holds and their ends by task, oldest first. */
async function videoLines(store: StoreEngine, account: string): Promise<Map<string, VideoLine[]>> {
  const byTask = new Map<string, VideoLine[]>();
  let after: string | undefined;
  do {
    const { lines, next } = await listLedgerEntries(store, account, {
      limit: 100,
      ...(after === undefined ? {} : { after }),
    });
    for (const line of lines.filter(({ operation }) => ["hold", "capture", "release"].includes(operation))) {
      byTask.set(line.reference, [...byTask.get(line.reference) ?? [], line]);
    }
    after = next ?? undefined;
  } while (after !== undefined);
  return byTask;
}
