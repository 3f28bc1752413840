import * as z from "zod";

/**
 * The replies of OpenRouter's video API. They are loaded by the first job, so that a provider without video models does
 * not hold the schemas in memory. Source: as in `videos.ts`.
 */

const text = z.string().nullish().catch(null);

const Created = z.object({ id: z.string().min(1), polling_url: text });

const Job = z.object({
  status: z.string(),
  error: text,
  unsigned_urls: z.array(z.string()).nullish().catch(null),
  urls: z.array(z.string()).nullish().catch(null),
  usage: z.object({ cost: z.number().nullish() }).nullish().catch(null),
});

/** A job that was created. */
export type CreatedJob = z.infer<typeof Created>;

/** The state of a job. */
export type PolledJob = z.infer<typeof Job>;

/** Reads the reply to a create. Throws {@linkcode z.ZodError}. */
export function readCreated(reply: unknown): CreatedJob {
  return Created.parse(reply);
}

/** Reads the reply to a poll. Throws {@linkcode z.ZodError}. */
export function readJob(reply: unknown): PolledJob {
  return Job.parse(reply);
}
