/** The task and run of a copy job. */
export interface CopyRef {
  readonly taskId: string;
  /** 0 for the copies that a completion starts; otherwise as `TaskRecopy.run`. */
  readonly run: number;
}

/** Returns the `ref` of a job: the task's id, followed by the run. */
export function writeCopyRef({ taskId, run }: CopyRef): string {
  return run === 0 ? taskId : `${taskId}.${run}`;
}

/** The inverse of {@linkcode writeCopyRef}. */
export function readCopyRef(ref: string): CopyRef {
  const [taskId = ref, run = "0"] = ref.split(".");
  return { taskId, run: Number(run) };
}
