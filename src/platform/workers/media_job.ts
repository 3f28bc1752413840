import { measureAudioSeconds } from "./audio_job.ts";
import type { JobOutcome } from "./job_server.ts";
import { findDecodingProblem, reencodeImage, type ReencodeOptions } from "./picture_jobs.ts";

/** The jobs that the threads of `createMediaWork` run. */
export type MediaJob =
  | { readonly kind: "check-picture"; readonly buffer: ArrayBuffer }
  | { readonly kind: "redraw-picture"; readonly buffer: ArrayBuffer; readonly how: ReencodeOptions }
  | { readonly kind: "measure-audio"; readonly buffer: ArrayBuffer; readonly mediaType: string };

/** Runs a job in the current thread. */
export async function runMediaJob(job: MediaJob): Promise<JobOutcome> {
  const { buffer } = job;
  const bytes = new Uint8Array(buffer);
  switch (job.kind) {
    case "check-picture":
      return { value: { buffer, mistake: await findDecodingProblem(bytes) }, transfer: [buffer] };
    case "redraw-picture": {
      const redrawn = await reencodeImage(bytes, job.how);
      if (typeof redrawn === "string") return { value: redrawn };
      return { value: redrawn.buffer, transfer: [redrawn.buffer] };
    }
    case "measure-audio":
      return { value: { buffer, seconds: await measureAudioSeconds(bytes, job.mediaType) }, transfer: [buffer] };
  }
}
