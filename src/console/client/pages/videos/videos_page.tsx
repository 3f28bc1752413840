import type { Page, PageProps } from "../../page.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { OwnVideoDetails } from "./own_video_details.tsx";
import { VideoDetails } from "./video_details.tsx";
import { OwnVideoList, VideoList } from "./video_list.tsx";

/** The video tasks, and a page for each. */
export const videosPage: Page = {
  path: "videos",
  title: TEXTS.videos.title,
  icon: "videos",
  audience: "all",
  View: ({ rest }: PageProps) => session.value?.kind === "operator" ? <Operators id={rest} /> : <Callers id={rest} />,
};

interface VideosProps {
  /** Of a task; empty for the list. */
  readonly id: string;
}

function Operators({ id }: VideosProps) {
  return id === "" ? <VideoList /> : <VideoDetails id={id} />;
}

/** By the caller's own API, which has the tasks of its key alone. */
function Callers({ id }: VideosProps) {
  return id === "" ? <OwnVideoList /> : <OwnVideoDetails id={id} />;
}
