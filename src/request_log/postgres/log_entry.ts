/** The entry module of the thread of `openPostgresRequestLog`. */
import { parentPort, workerData } from "node:worker_threads";
import type { DatabaseLogData, ToLogThread } from "../messages.ts";
import { DatabaseLogTasks } from "./log_tasks.ts";

const port = parentPort!;
const tasks = new DatabaseLogTasks(workerData as DatabaseLogData, (message) => port.postMessage(message));
port.on("message", (message: ToLogThread) => void tasks.run(message));
