/** The entry module of the thread of `createTokenWork`. */
import { serveJobs } from "./job_server.ts";
import { guardThread } from "./thread_guard.ts";
import { countTokensInThread } from "./token_job.ts";

guardThread();
serveJobs(async (text: string) => ({ value: await countTokensInThread(text) }));
