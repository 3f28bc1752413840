import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";
import { VideoDetails } from "./video_details.tsx";
import { VideoList } from "./video_list.tsx";

/** The video tasks, and a page for each. */
export const videosPage: Page = {
  path: "videos",
  title: TEXTS.videos.title,
  icon: "videos",
  audience: "operators",
  View: ({ rest }: PageProps) => rest === "" ? <VideoList /> : <VideoDetails id={rest} />,
};
