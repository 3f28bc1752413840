/** The entry module of the threads of `createMediaWork`. */
import { serveJobs } from "./job_server.ts";
import { type MediaJob, runMediaJob } from "./media_job.ts";
import { guardThread } from "./thread_guard.ts";

guardThread();
serveJobs((job: MediaJob) => runMediaJob(job));
