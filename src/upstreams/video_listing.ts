import * as z from "zod";
import type { VideoJobHandle, VideoProgress } from "./video_upstream.ts";

/** How many jobs one question names: what fits well into an address, and into a page of every vendor's list. */
export const JOBS_PER_LIST = 100;

const List = z.object({ items: z.array(z.unknown()) });
const Item = z.object({ id: z.string().or(z.number().transform(String)) });

/** The query of a list that is to hold these jobs and no others, as Ark and MiniMax read it. */
export function listQueryOf(jobs: readonly VideoJobHandle[]): string {
  const ids = jobs.map(({ id }) => `&filter.task_ids=${encodeURIComponent(id)}`);
  return `page_num=1&page_size=${jobs.length}${ids.join("")}`;
}

/**
 * What a vendor's list reports of its jobs, by their ids. Failures and items that cannot be read are left out, so that
 * these jobs are polled by themselves: no task fails by a list that contains less than the job's own answer.
 *
 * @param answer With the jobs as `items`.
 * @param read Reads one of them.
 * @throws If it is no list.
 */
export function listedProgress(answer: unknown, read: (item: unknown) => VideoProgress): Map<string, VideoProgress> {
  const progress = new Map<string, VideoProgress>();
  for (const item of List.parse(answer).items) {
    const named = Item.safeParse(item);
    const reported = named.success ? attempt(() => read(item)) : null;
    if (named.success && reported !== null && reported.status !== "failed") progress.set(named.data.id, reported);
  }
  return progress;
}

function attempt(read: () => VideoProgress): VideoProgress | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof z.ZodError) return null;
    throw error;
  }
}
