/** The entry module of the thread of `createBodyWork`. */
import { serveJobs } from "../../workers/job_server.ts";
import { guardThread } from "../../workers/thread_guard.ts";
import { runBodyJob } from "./body_job.ts";
import type { BodyJob } from "./body_reader.ts";

guardThread();
serveJobs((job: BodyJob) => runBodyJob(job));
