/** The entry module of the thread that reads price lists. */
import { serveJobs } from "../../platform/workers/job_server.ts";
import { guardThread } from "../../platform/workers/thread_guard.ts";
import { type PriceJob, runPriceJob } from "./price_job.ts";

guardThread();
serveJobs((job: PriceJob) => Promise.resolve({ value: runPriceJob(job) }));
