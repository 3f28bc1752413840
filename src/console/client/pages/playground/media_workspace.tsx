import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Field } from "../../components/action_form.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import type { ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** Properties of a {@linkcode MediaWorkspace}. */
export interface MediaWorkspaceProps {
  readonly models: readonly ListedModel[];
  /** What models must give to be chosen. */
  readonly output: "image" | "video";
  /** The chosen model, which becomes one that can be chosen. */
  readonly model: Signal<string>;
  /** The form, with the models that can be chosen. */
  readonly order: (usable: readonly ListedModel[]) => ComponentChildren;
  /** The requests, the newest first. */
  readonly runs: readonly ComponentChildren[];
  /** What is shown before the first request. */
  readonly empty: { readonly emptyTitle: string; readonly empty: string };
}

/** A form for pictures or videos beside what was requested with it. */
export function MediaWorkspace({ models, output, model, order, runs, empty }: MediaWorkspaceProps) {
  const usable = models.filter(({ architecture }) => architecture.output_modalities.includes(output));
  useEffect(() => {
    if (!usable.some(({ id }) => id === model.value)) model.value = usable[0]?.id ?? "";
  }, [models]);
  if (usable.length === 0) {
    return <EmptyState title={TEXTS.models.emptyTitle}>{TEXTS.playground.noModels}</EmptyState>;
  }
  return (
    <div class="play">
      {order(usable)}
      <div class="play-main">
        {runs.length === 0 && (
          <section class="card">
            <EmptyState title={empty.emptyTitle}>{empty.empty}</EmptyState>
          </section>
        )}
        {runs}
      </div>
    </div>
  );
}

/** What a picture or a video shows. */
export function PromptField({ name, prompt }: { readonly name: string; readonly prompt: Signal<string> }) {
  return (
    <Field name={name}>
      <textarea
        name="prompt"
        rows={4}
        value={prompt.value}
        onInput={(event) => prompt.value = event.currentTarget.value}
      />
    </Field>
  );
}
