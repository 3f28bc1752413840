import { useEffect, useRef } from "preact/hooks";
import { EmptyState } from "../../../components/empty_state.tsx";
import type { ListedModel } from "../../../shapes.ts";
import { TEXTS } from "../../../texts.ts";
import { modelGroupOf } from "../model_groups.ts";
import { PROTOCOLS } from "../protocols/all.ts";
import type { ChatState } from "./chat_state.ts";
import { Composer, type WrittenMessage } from "./composer.tsx";
import type { Pane, PaneRequest } from "./pane.ts";
import { PaneView } from "./pane_view.tsx";
import { useFollowedEnd } from "./followed_end.ts";
import { Settings } from "./settings.tsx";

/** Conversations with one or two models. */
export function Chat({ state, onBatch, models }: {
  readonly state: ChatState;
  /** Takes over what is written, to run it as a batch. */
  readonly onBatch: (written: WrittenMessage) => void;
  readonly models: readonly ListedModel[];
}) {
  const usable = models.filter(({ architecture: { output_modalities: outputs } }) =>
    outputs.includes("text") || outputs.includes("image")
  );
  const panes = useRef<HTMLDivElement>(null);
  const composer = useRef<HTMLFormElement>(null);
  useEffect(() => chooseModels(state.panes, usable), [models]);
  useFollowedEnd({ panes, composer, turns: state.shown.value.map(({ turns }) => turns.value) });
  if (usable.length === 0) {
    return <EmptyState title={TEXTS.models.emptyTitle}>{TEXTS.playground.noModels}</EmptyState>;
  }
  const requestFor = (pane: Pane): PaneRequest => ({
    protocol: PROTOCOLS[state.protocol.value],
    settings: {
      ...state.settings(),
      model: pane.model.value,
      makesImages: usable.find(({ id }) => id === pane.model.value)?.architecture.output_modalities
        .includes("image") === true,
    },
  });
  return (
    <div class="play">
      <Settings state={state} />
      <div class="play-main">
        <div ref={panes} class={state.hasTwo.value ? "panes two" : "panes"}>
          {state.shown.value.map((pane, place) => (
            <PaneView
              key={place}
              name={place === 0 ? TEXTS.playground.model : TEXTS.playground.secondModel}
              pane={pane}
              models={usable}
              mockResultOf={(tool) => state.mockResultOf(tool)}
              requestFor={requestFor}
            />
          ))}
        </div>
        <Composer form={composer} state={state} onBatch={onBatch} requestFor={requestFor} />
      </div>
    </div>
  );
}

/** Panes begin with different models, those of text first. A model that the catalog lacks is replaced. */
function chooseModels(panes: readonly Pane[], models: readonly ListedModel[]): void {
  const ids = models.toSorted((one, other) => rankOf(one) - rankOf(other)).map(({ id }) => id);
  for (const [place, { model }] of panes.entries()) {
    if (!ids.includes(model.value)) model.value = ids[place] ?? ids[0] ?? "";
  }
}

/** An alias is last, because it is the same model again. */
function rankOf(model: ListedModel): number {
  if (modelGroupOf(model) === "aliases") return 2;
  return model.architecture.output_modalities.includes("text") ? 0 : 1;
}
