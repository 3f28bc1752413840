/** The frames or references that a video is made from. Source: docs/api/videos.md#modes. */
export type VideoMode = "text2video" | "img2video" | "img2video_end" | "imgref2video" | "mixref2video";

/** The kind of a reference that a video is made from. */
export type Medium = "image" | "audio" | "video";
