/** The entry module of the thread of `openPostgresRequestLog`. */
import { parentPort, workerData } from "node:worker_threads";
import { holdState, StateFailure } from "../../../platform/lib/basics/held.ts";
import { guardThread } from "../../../platform/workers/thread_guard.ts";
import type { DatabaseLogData, ToLogThread } from "../messages.ts";
import { DatabaseLogTasks } from "./log_tasks.ts";
import { startThreadHeartbeat } from "../../../platform/lib/process/own_heartbeat.ts";

guardThread({ isFatal: (error) => error instanceof StateFailure });

startThreadHeartbeat();
const port = parentPort!;
const tasks = new DatabaseLogTasks(workerData as DatabaseLogData, (message) => port.postMessage(message));
port.on("message", (message: ToLogThread) => holdState(tasks.run(message), "the request log"));
