/** A thread that takes its messages some time after its start, and sends them back. */
import { parentPort } from "node:worker_threads";
import { holdEarlyMessages } from "../../src/platform/workers/early_messages.ts";

const takeMessages = holdEarlyMessages();
await new Promise((resolve) => parentPort?.once("message", resolve));
takeMessages((message) => parentPort?.postMessage(message));
