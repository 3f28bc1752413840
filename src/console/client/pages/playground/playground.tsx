import type { FunctionComponent } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ApiError } from "../../api.ts";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { readModels } from "../../models.ts";
import { hrefOf, navigate, query, setTypedQuery } from "../../navigation.ts";
import type { PageProps } from "../../page.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite, session } from "../../session_state.ts";
import type { ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { BatchWorkspace } from "./batches/batch_workspace.tsx";
import { Chat } from "./chat/chat.tsx";
import type { WrittenMessage } from "./chat/composer.tsx";
import { PayerChoice } from "./payer_choice.tsx";
import { openRequest } from "./open_request.ts";
import { withAliases } from "./model_groups.ts";
import { Images } from "./pictures/pictures.tsx";
import { isKept, type PlaygroundState, stateOf } from "./playground_state.ts";
import { Videos } from "./videos/videos.tsx";

const TABS = ["chat", "pictures", "videos", "batches"] as const;
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
  chat: ({ state, models }) => (
    <Chat
      state={state.chat}
      onBatch={(written) => runAsBatch(state.batches, written)}
      models={models}
    />
  ),
  pictures: ({ state, models }) => <Images state={state.pictures} models={models} />,
  videos: ({ state, models }) => <Videos state={state.videos} models={models} />,
  batches: ({ state, models }) => <BatchWorkspace state={state.batches} chat={state.chat} models={models} />,
};

function runAsBatch(batches: PlaygroundState["batches"], written: WrittenMessage): void {
  batches.take(written);
  navigate(hrefOf("playground/batches"));
}

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
  const { data, error } = usePolled("models", readModels);
  const models = useMemo(() => data === null ? null : withAliases(data), [data]);
  if (error !== null) return <ErrorNotice error={error} />;
  if (models === null) return <Loading />;
  const View = VIEWS[tab];
  return (
    <>
      <Opening state={stateOf(session)} />
      {tab === START && !isKept.value && <p class="notice" role="status">{TEXTS.playground.tooLarge}</p>}
      <View state={stateOf(session)} models={models} />
    </>
  );
}

/** Takes over the request that the address names, once. */
function Opening({ state }: { readonly state: PlaygroundState }) {
  const [problem, setProblem] = useState<Pick<ApiError, "message" | "requestId"> | null>(null);
  const [missing, setMissing] = useState<string | null>(null);
  const from = query.value.get("from") ?? "";
  useEffect(() => {
    if (from === "") return;
    setProblem(null);
    setMissing(null);
    setTypedQuery({ from: "" });
    openRequest(from, state).then(setMissing, setProblem);
  }, [from]);
  return (
    <>
      {problem !== null && <ErrorNotice error={problem} />}
      {missing !== null && <p class="notice" role="status">{missing}</p>}
    </>
  );
}
