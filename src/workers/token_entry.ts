/** The thread of `createTokenWork`. */
import { serveJobs } from "./job_server.ts";
import { countTokensHere } from "./token_job.ts";

serveJobs(async (text) => ({ value: await countTokensHere(text as string) }));
