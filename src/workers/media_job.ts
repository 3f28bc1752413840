import { secondsOfAudio } from "./audio_job.ts";
import type { JobOutcome } from "./job_server.ts";
import { mistakeInPicture, type Redrawing, redrawnPicture } from "./picture_jobs.ts";

/** What the threads of `createMediaWork` can do. */
export type MediaJob =
  | { readonly kind: "check-picture"; readonly buffer: ArrayBuffer }
  | { readonly kind: "redraw-picture"; readonly buffer: ArrayBuffer; readonly how: Redrawing }
  | { readonly kind: "measure-audio"; readonly buffer: ArrayBuffer; readonly mediaType: string };

/** Does a job, in the thread that calls it. */
export async function runMediaJob(job: MediaJob): Promise<JobOutcome> {
  const { buffer } = job;
  const bytes = new Uint8Array(buffer);
  switch (job.kind) {
    case "check-picture":
      return { value: { buffer, mistake: await mistakeInPicture(bytes) }, transfer: [buffer] };
    case "redraw-picture": {
      const redrawn = await redrawnPicture(bytes, job.how);
      if (typeof redrawn === "string") return { value: redrawn };
      return { value: redrawn.buffer, transfer: [redrawn.buffer] };
    }
    case "measure-audio":
      return { value: { buffer, seconds: await secondsOfAudio(bytes, job.mediaType) }, transfer: [buffer] };
  }
}
