/** The entry module of the thread of `createBodyWork`. */
import { serveJobs } from "../../workers/job_server.ts";
import { guardThread } from "../../workers/thread_guard.ts";
import { type BodyJob, runBodyJob } from "./body_job.ts";

guardThread();
serveJobs((job) => runBodyJob(job as BodyJob));
