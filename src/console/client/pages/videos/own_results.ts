import type { OwnVideoTask, VideoResult } from "../../shapes.ts";

type Extra = "thumbnail_url" | "thumbnail_mirror_url" | "last_frame_url" | "last_frame_mirror_url";

/** The addresses of what a task made. */
export type ResultAddresses =
  & Pick<OwnVideoTask, "unsigned_urls" | "mirror_urls">
  & { readonly [name in Extra]?: string | undefined };

/** What a task made: the copies at the gateway, or the vendor's own addresses until there are copies. */
export function ownResultsOf(task: ResultAddresses): VideoResult[] {
  const { unsigned_urls, mirror_urls, thumbnail_url, thumbnail_mirror_url, last_frame_url, last_frame_mirror_url } =
    task;
  const videos = mirror_urls.length >= unsigned_urls.length ? mirror_urls : unsigned_urls;
  const extras = [
    { type: "thumbnail", url: thumbnail_mirror_url ?? thumbnail_url },
    { type: "last_frame", url: last_frame_mirror_url ?? last_frame_url },
  ] as const;
  return [
    ...videos.map((url, index): VideoResult => ({ type: "video", index, url })),
    ...extras.flatMap(({ type, url }): VideoResult[] => url === undefined ? [] : [{ type, index: 0, url }]),
  ];
}

/** Whether the gateway has a copy of everything that a task made. */
export function areCopied(task: ResultAddresses): boolean {
  return task.mirror_urls.length >= task.unsigned_urls.length &&
    (task.thumbnail_url === undefined || task.thumbnail_mirror_url !== undefined) &&
    (task.last_frame_url === undefined || task.last_frame_mirror_url !== undefined);
}
