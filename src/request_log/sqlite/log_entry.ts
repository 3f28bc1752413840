/** The entry module of the thread of `openSqliteLog`. */
import { parentPort, workerData } from "node:worker_threads";
import type { LogThreadData, ToLogThread } from "../messages.ts";
import { LogTasks } from "./log_tasks.ts";

const port = parentPort!;
const tasks = new LogTasks(workerData as LogThreadData, (message) => port.postMessage(message));
port.on("message", (message: ToLogThread) => void tasks.run(message));
