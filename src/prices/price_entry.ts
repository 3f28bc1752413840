/** The entry module of the thread that reads price lists. */
import { serveJobs } from "../workers/job_server.ts";
import { guardThread } from "../workers/thread_guard.ts";
import { type PriceJob, runPriceJob } from "./price_job.ts";

guardThread();
serveJobs((job) => Promise.resolve({ value: runPriceJob(job as PriceJob) }));
