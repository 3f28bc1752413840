import type { ReadonlySignal } from "@preact/signals";
import type { SignedIn } from "../../session_state.ts";
import { ChatState } from "./chat/chat_state.ts";
import { PictureState } from "./pictures/picture_state.ts";
import { VideoState } from "./videos/video_state.ts";

/** What a session has written in the playground. */
export interface PlaygroundState {
  readonly chat: ChatState;
  readonly pictures: PictureState;
  readonly videos: VideoState;
}

/** Each session has its own, so that the next person to sign in sees nothing of the one before. */
const states = new WeakMap<SignedIn, PlaygroundState>();

/** What the session has written. */
export function stateOf({ value }: ReadonlySignal<SignedIn | null | undefined>): PlaygroundState {
  const created = { chat: new ChatState(), pictures: new PictureState(), videos: new VideoState() };
  if (!value) return created;
  const known = states.get(value);
  if (known === undefined) states.set(value, created);
  return known ?? created;
}
