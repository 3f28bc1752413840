/** The entry module of the thread of `threadSink`. */
import { parentPort, workerData } from "node:worker_threads";
import { startThreadHeartbeat } from "../../lib/process/own_heartbeat.ts";
import { JournalTaskRunner } from "./journal_tasks.ts";
import { guardThread } from "../../workers/thread_guard.ts";
import type { JournalTask } from "./thread_sink.ts";

guardThread({ isFatal: () => true });
startThreadHeartbeat();
const port = parentPort!;
const runner = new JournalTaskRunner((workerData as { readonly folder: string }).folder);
port.on("message", (task: JournalTask) => port.postMessage(runner.run(task)));
