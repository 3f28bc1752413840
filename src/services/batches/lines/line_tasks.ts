import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Commit } from "../../../platform/store/store.ts";
import type { BatchRecord, LineTask } from "../records/batch.ts";
import type { LineReply, LineRequest } from "./line_runner.ts";

/** A line whose request makes a task that lasts, such as a video. */
export interface BeginningLine {
  readonly request: LineRequest;
  /** What the task may cost. */
  readonly part: Money;
  /** The id of the batch. */
  readonly batch: string;
  readonly customId: string;
  /** The latest end of the task, in Unix milliseconds. */
  readonly expiresAt: number;
}

/** A task that is ready to be stored. */
export interface NewLineTask extends Pick<LineTask, "taskId" | "requestId"> {
  /** What its hold needs: at most the part of its line. */
  readonly amount: Money;
  /** The task without its hold. */
  readonly commit: Commit;
}

/**
 * How the begin of a task ended. `begun`: it is stored. `left`: its batch takes no task any more, or the line has one.
 * A reply: the request was refused.
 */
export type TaskBegin = "begun" | "left" | LineReply;

/** A task that has ended. */
export interface EndedLineTask {
  readonly reply: LineReply;
  /** What was charged with the end of the task. */
  readonly cost: Money;
  /** Whether it ended without a result because it was cancelled, or its time was over. */
  readonly isStopped: boolean;
}

/** The tasks that lines make. They have their own jobs, and end by themselves, whatever becomes of their batch. */
export interface LineTasks {
  /**
   * Makes the task of a line. Never throws what an endpoint answers.
   *
   * @param add Commits the task with its hold; false if the batch takes no task any more, or the line has one.
   */
  begin(line: BeginningLine, add: (task: NewLineTask) => Promise<boolean>): Promise<TaskBegin>;
  /** Those that have ended, by their ids. */
  ended(
    batch: Pick<BatchRecord, "endpoint" | "account" | "keyId" | "client">,
    tasks: readonly LineTask[],
  ): Promise<ReadonlyMap<string, EndedLineTask>>;
  /** Cancels a task, if its vendor takes that now. */
  cancel(keyId: string, taskId: string): Promise<void>;
}
