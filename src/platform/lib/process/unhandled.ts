/** What is done with errors that nothing has handled. */
export interface UnhandledOptions {
  /** Whether an error means that the state of the gateway can be wrong. */
  readonly isFatal: (error: unknown) => boolean;
  /** Called for a fatal error; the process or thread must end. */
  readonly onFatal: (error: unknown) => void;
  /** Called for any other error, after which the process goes on. */
  readonly onUnhandled: (error: unknown) => void;
}

let unhandled = 0;

/** The number of errors of this process that nothing has handled, those of its threads included. */
export function unhandledErrors(): number {
  return unhandled;
}

/**
 * Takes over what arrives at the events `error` and `unhandledrejection` of this thread. Without it the platform ends
 * the process for each.
 */
export function watchUnhandled({ isFatal, onFatal, onUnhandled }: UnhandledOptions): void {
  const take = (error: unknown) => {
    unhandled++;
    if (isFatal(error)) onFatal(error);
    else onUnhandled(error);
  };
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    take(event.error);
  });
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    take(event.reason);
  });
}

/** The frames of a stack that the log shows of an error that nothing has handled. */
const MAX_FRAMES = 12;

/**
 * The class of an error and its stack on one line, for the log. Its message is left out, since it can repeat the input.
 *
 * @param maxFrames The number of frames, the innermost first.
 */
export function stackOf(thrown: unknown, maxFrames: number = MAX_FRAMES): string {
  if (!(thrown instanceof Error)) return `threw a ${typeof thrown}`;
  const head = `${thrown.name}: ${thrown.message}`;
  const frames = thrown.stack?.startsWith(head) ? thrown.stack.slice(head.length) : "";
  return [thrown.name, ...frames.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, maxFrames)].join(" ");
}
