import { holdState } from "../../src/platform/lib/basics/held.ts";
import type { LogThreadData, ToLogThread } from "../../src/observers/request_log/messages.ts";
import { LogTasks } from "../../src/observers/request_log/sqlite/log_tasks.ts";
import type { StartThread } from "../../src/platform/workers/worker_thread.ts";

/**
 * Runs the log of requests of a store in memory in the thread of the test. A thread takes as much processor time to
 * start as most tests need. Logs in files have threads in tests, too.
 */
export function logInProcess(data: LogThreadData): StartThread {
  return ({ onMessage }) => {
    let isOver = false;
    // A message arrives in a later turn of the event loop, as from a thread.
    const later = (work: () => void) => void setTimeout(() => isOver || work(), 0);
    const tasks = new LogTasks(data, (message) => later(() => onMessage(structuredClone(message))));
    return {
      post: (message) => {
        const copy = structuredClone(message) as ToLogThread;
        later(() => holdState(tasks.run(copy), "the request log"));
      },
      terminate: () => void (isOver = true),
      setReferenced() {},
    };
  };
}
