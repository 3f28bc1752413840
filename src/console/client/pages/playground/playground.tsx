import type { ReadonlySignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { readModels } from "../../models.ts";
import { hrefOf } from "../../navigation.ts";
import type { PageProps } from "../../page.ts";
import { usePolled } from "../../polled.ts";
import { canWrite, session, type SignedIn } from "../../session_state.ts";
import type { ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { Chat } from "./chat/chat.tsx";
import { ChatState } from "./chat/chat_state.ts";
import { PayerChoice } from "./payer_choice.tsx";
import { PictureState } from "./pictures/picture_state.ts";
import { Pictures } from "./pictures/pictures.tsx";
import { VideoState } from "./videos/video_state.ts";
import { Videos } from "./videos/videos.tsx";

/** What a session has written in the playground. */
interface PlaygroundState {
  readonly chat: ChatState;
  readonly pictures: PictureState;
  readonly videos: VideoState;
}

/** Each session has its own, so that the next person to sign in sees nothing of the one before. */
const states = new WeakMap<SignedIn, PlaygroundState>();

function stateOf({ value }: ReadonlySignal<SignedIn | null | undefined>): PlaygroundState {
  const created = { chat: new ChatState(), pictures: new PictureState(), videos: new VideoState() };
  if (!value) return created;
  const known = states.get(value);
  if (known === undefined) states.set(value, created);
  return known ?? created;
}

const TABS = ["chat", "pictures", "videos"] as const;
type Tab = (typeof TABS)[number];
const [START] = TABS;

/** The playground: its kinds of requests, and who pays for them. */
export function Playground({ rest }: PageProps) {
  const tab = TABS.find((each) => each === rest) ?? START;
  const isOperator = session.value?.kind === "operator";
  return (
    <>
      <PageHead title={TEXTS.playground.title}>
        <Tabs current={tab} />
        {isOperator && canWrite() && <PayerChoice />}
      </PageHead>
      {isOperator && !canWrite() && <p class="notice" role="status">{TEXTS.playground.readOnly}</p>}
      <Kind tab={tab} />
    </>
  );
}

const VIEWS: Readonly<
  Record<Tab, FunctionComponent<{ readonly state: PlaygroundState; readonly models: readonly ListedModel[] }>>
> = {
  chat: ({ state, models }) => <Chat state={state.chat} models={models} />,
  pictures: ({ state, models }) => <Pictures state={state.pictures} models={models} />,
  videos: ({ state, models }) => <Videos state={state.videos} models={models} />,
};

function Tabs({ current }: { readonly current: Tab }) {
  return (
    <nav class="choice tabs" aria-label={TEXTS.playground.kinds}>
      {TABS.map((tab) => (
        <a
          key={tab}
          href={hrefOf(tab === START ? "playground" : `playground/${tab}`)}
          aria-current={tab === current ? "page" : undefined}
        >
          {TEXTS.playground.tabs[tab]}
        </a>
      ))}
    </nav>
  );
}

function Kind({ tab }: { readonly tab: Tab }) {
  const { data: models, error } = usePolled("models", readModels);
  if (error !== null) return <ErrorNotice error={error} />;
  if (models === null) return <Loading />;
  const View = VIEWS[tab];
  return <View state={stateOf(session)} models={models} />;
}
