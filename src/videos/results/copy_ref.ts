/** What a job that copies results is about. */
export interface CopyRef {
  readonly taskId: string;
  /** 0 for the copies that a completion begins; else as `TaskRecopy.run`. */
  readonly run: number;
}

/** As the `ref` of a job: the task's id, and behind it the run. */
export function writeCopyRef({ taskId, run }: CopyRef): string {
  return run === 0 ? taskId : `${taskId}.${run}`;
}

/** The inverse of {@linkcode writeCopyRef}. */
export function readCopyRef(ref: string): CopyRef {
  const [taskId = ref, run = "0"] = ref.split(".");
  return { taskId, run: Number(run) };
}
