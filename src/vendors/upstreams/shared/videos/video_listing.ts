import * as z from "zod";
import type { VideoJobHandle, VideoProgress } from "../../contract/video_upstream.ts";

/** The maximum number of jobs per list request. It fits into a URL and into a page of every vendor's list. */
export const MAX_JOBS_PER_LIST = 100;

const List = z.object({ items: z.array(z.unknown()) });
const Item = z.object({ id: z.string().or(z.number().transform(String)) });

/** Returns the query of a list of exactly these jobs, for Ark and MiniMax. */
export function listQueryOf(jobs: readonly VideoJobHandle[]): string {
  const ids = jobs.map(({ id }) => `&filter.task_ids=${encodeURIComponent(id)}`);
  return `page_num=1&page_size=${jobs.length}${ids.join("")}`;
}

/**
 * Returns the progress of the listed jobs, by id. Failures and unreadable items are left out, and these jobs are polled
 * one by one, because a list contains less than a job's own response.
 *
 * @param response With the jobs as `items`.
 * @param read Reads one item.
 * @throws If the response is not a list.
 */
export function listedProgress(response: unknown, read: (item: unknown) => VideoProgress): Map<string, VideoProgress> {
  const progress = new Map<string, VideoProgress>();
  for (const item of List.parse(response).items) {
    const identified = Item.safeParse(item);
    const itemProgress = identified.success ? attempt(() => read(item)) : null;
    if (identified.success && itemProgress !== null && itemProgress.status !== "failed") {
      progress.set(identified.data.id, itemProgress);
    }
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
