/** The module of the thread that reads the configuration. Nothing imports it: see `THREAD_MODULES`. */
import { parentPort } from "node:worker_threads";
import { readPlainLayers } from "../../../config/config.ts";
import { ConfigError } from "../../../config/tree/config_error.ts";
import { readConfigFileAgain } from "../../../config/config_file.ts";
import { guardThread } from "../../../platform/workers/thread_guard.ts";
import type { ReadAnswer, ReadRequest } from "./config_thread.ts";
import { environmentOf } from "../environment.ts";
import { startThreadHeartbeat } from "../../../platform/lib/process/own_heartbeat.ts";

guardThread();

startThreadHeartbeat();
parentPort?.on("message", (request: ReadRequest) => parentPort?.postMessage(answerTo(request)));

function answerTo({ path, file, stored }: ReadRequest): ReadAnswer {
  try {
    const env = environmentOf(path);
    const { text } = readConfigFileAgain(file, { env });
    return { type: "read", plain: readPlainLayers({ text, file, env, stored }) };
  } catch (error) {
    if (error instanceof ConfigError) return { type: "invalid", problems: error.problems };
    const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    return { type: "failed", name, message, stack };
  }
}
