import { captureHold, readHold, releaseHold } from "../../src/money/billing/hold.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import type { Key, Store } from "../../src/platform/store/store.ts";
import type { LineReply } from "../../src/services/batches/lines/line_runner.ts";
import type { EndedLineTask, LineTasks } from "../../src/services/batches/lines/line_tasks.ts";

interface FakeTask {
  readonly taskId: string;
  readonly customId: string;
  end: "completed" | "cancelled" | "expired" | null;
}

const keyOf = (taskId: string): Key => ["fake", "task", taskId];

/** Tasks in the store, which a test ends. Each has a hold of its own, as a video. */
export class FakeTasks implements LineTasks {
  readonly made: FakeTask[] = [];
  readonly cancelled: string[] = [];
  /** Called before the commit of a task. */
  onAdd: (customId: string) => unknown = () => {};
  /** Called after it. */
  onAdded: (customId: string) => unknown = () => {};
  /** The reply in the place of a task; null for a task. */
  refuse: (customId: string) => LineReply | null = () => null;

  constructor(private readonly store: Store) {}

  async begin(...[{ customId, part }, add]: Parameters<LineTasks["begin"]>): ReturnType<LineTasks["begin"]> {
    const refusal = this.refuse(customId);
    if (refusal !== null) return refusal;
    const taskId = crypto.randomUUID();
    await this.onAdd(customId);
    const commit = { set: [{ key: keyOf(taskId), value: customId }] };
    if (!await add({ taskId, requestId: `req_${customId}`, amount: part, commit })) return "left";
    this.made.push({ taskId, customId, end: null });
    await this.onAdded(customId);
    return "begun";
  }

  ended(_batch: unknown, tasks: readonly { readonly taskId: string }[]): Promise<ReadonlyMap<string, EndedLineTask>> {
    const ended = new Map<string, EndedLineTask>();
    for (const { taskId } of tasks) {
      const task = this.made.find((each) => each.taskId === taskId);
      if (task === undefined || task.end === null) continue;
      const isDone = task.end === "completed";
      const body = new TextEncoder().encode(JSON.stringify({ video: task.customId }));
      const reply = { requestId: "r", status: isDone ? 200 : 409, body, charge: null };
      ended.set(taskId, { reply, cost: isDone ? TASK_COST : 0n, isStopped: !isDone });
    }
    return Promise.resolve(ended);
  }

  async cancel(_keyId: string, taskId: string): Promise<void> {
    this.cancelled.push(taskId);
    await this.#end(taskId, "cancelled");
  }

  /** Ends all open tasks with their money. */
  async endAll(end: NonNullable<FakeTask["end"]>): Promise<void> {
    for (const task of this.made) if (task.end === null) await this.#end(task.taskId, end);
  }

  /** The custom ids of the tasks that are stored. */
  async stored(): Promise<string[]> {
    return (await this.store.scan<string>(["fake", "task"], { limit: 200 })).map(({ value }) => value).sort();
  }

  async #end(taskId: string, end: NonNullable<FakeTask["end"]>): Promise<void> {
    const hold = await readHold(this.store, taskId);
    if (hold === null) throw new Error("The task has no hold");
    const commit = end === "completed"
      ? captureHold({}, hold, TASK_COST, this.store.now()).commit
      : releaseHold({}, hold, this.store.now());
    const result = await this.store.commit(null, commit);
    if (!result.ok) throw new Error(`The task was not ended: ${result.why}`);
    for (const task of this.made) if (task.taskId === taskId) task.end = end;
  }
}

/** What a finished task costs. */
export const TASK_COST: Money = 4n;
