/** The entry module of the thread of `createTokenWork`. */
import { serveJobs } from "./job_server.ts";
import { countTokensInThread } from "./token_job.ts";

serveJobs(async (text) => ({ value: await countTokensInThread(text as string) }));
