import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { session, type SignedIn } from "../../session_state.ts";
import { keepInTab, keptInTab } from "../../tab_storage.ts";
import { BatchPlay } from "./batches/batch_play.ts";
import { ChatState } from "./chat/chat_state.ts";
import { type KeptChat, keptChatOf, restoreChat } from "./chat/kept_chat.ts";
import { payer } from "./payer.ts";
import { ImageState } from "./pictures/picture_state.ts";
import { VideoState } from "./videos/video_state.ts";

/** What a session has written in the playground. */
export interface PlaygroundState {
  readonly chat: ChatState;
  readonly pictures: ImageState;
  readonly videos: VideoState;
  readonly batches: BatchPlay;
}

/** What the tab keeps of it, so that it survives a reload. */
interface KeptPlayground {
  readonly payer: string;
  readonly chat: KeptChat;
}

/** Each session has its own, so that the next person to sign in sees nothing of the one before. */
const states = new WeakMap<SignedIn, PlaygroundState>();

/** Whether the tab has room for the chat. */
export const isKept = signal(true);

/** A chat is kept at most this often while it changes. */
const KEEP_MS = 500;

/** What the session has written. */
export function stateOf({ value }: ReadonlySignal<SignedIn | null | undefined>): PlaygroundState {
  const known = value ? states.get(value) : undefined;
  if (known !== undefined) return known;
  const created = {
    chat: new ChatState(),
    pictures: new ImageState(),
    videos: new VideoState(),
    batches: new BatchPlay(),
  };
  if (!value) return created;
  states.set(value, created);
  restore(created, keptInTab(value));
  keepChanges(created, value);
  return created;
}

function restore({ chat }: PlaygroundState, value: unknown): void {
  if (typeof value !== "object" || value === null || !("chat" in value)) return;
  restoreChat(chat, value.chat);
  if ("payer" in value && typeof value.payer === "string" && payer.value === "") payer.value = value.payer;
}

function keepChanges({ chat }: PlaygroundState, owner: SignedIn): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const kept = (hasEvents: boolean): KeptPlayground => ({ payer: payer.value, chat: keptChatOf(chat, hasEvents) });
  const keep = () => {
    clearTimeout(timer);
    timer = undefined;
    if (session.value === owner) isKept.value = keepInTab(owner, candidates(kept));
  };
  let isFirst = true;
  effect(() => {
    kept(false); // reads every signal that it depends on
    if (!isFirst) timer ??= setTimeout(keep, KEEP_MS);
    isFirst = false;
  });
  addEventListener("pagehide", () => {
    if (timer !== undefined) keep();
  });
}

function* candidates(kept: (hasEvents: boolean) => KeptPlayground): Generator<KeptPlayground> {
  yield kept(true);
  yield kept(false);
}
