import { Field } from "../../../components/action_form.tsx";
import { ErrorNotice } from "../../../components/error_notice.tsx";
import { dollars } from "../../../format.ts";
import type { ListedModel } from "../../../shapes.ts";
import { TEXTS } from "../../../texts.ts";
import { FileInput } from "../file_input.tsx";
import { MediaWorkspace, PromptField } from "../media_workspace.tsx";
import { ModelChoice } from "../model_choice.tsx";
import { OptionField } from "../option_field.tsx";
import { canSend } from "../payer.ts";
import { VideoRunView } from "./video_run_view.tsx";
import type { VideoState } from "./video_state.ts";

const texts = TEXTS.playground.videos;
/** The most references of a request. Source: docs/api/videos.md#references. */
const MAX_REFERENCES = 13;

/** Videos from a prompt, from frames or from references. */
export function Videos({ state, models }: { readonly state: VideoState; readonly models: readonly ListedModel[] }) {
  return (
    <MediaWorkspace
      models={models}
      output="video"
      model={state.model}
      order={(usable) => <Order state={state} models={usable} />}
      runs={state.runs.value.map((run) => (
        <VideoRunView
          key={run.number}
          run={run}
          onCancel={() => void state.cancel(run)}
        />
      ))}
      empty={texts}
    />
  );
}

function Order({ state, models }: { readonly state: VideoState; readonly models: readonly ListedModel[] }) {
  const { model, prompt, duration, seed, resolution, aspectRatio, audio, estimate, estimateError } = state;
  const { resolutions = [], aspect_ratios: ratios = [], duration: lengths } =
    models.find(({ id }) => id === model.value)?.video ?? {};
  const isReady = canSend() && prompt.value.trim() !== "";
  const choose = (id: string) => {
    model.value = id;
    duration.value = resolution.value = aspectRatio.value = "";
    estimate.value = null;
  };
  return (
    <form
      class="card play-settings"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void state.create();
      }}
    >
      <ModelChoice name={TEXTS.playground.model} models={models} value={model.value} onChange={choose} />
      <PromptField name={texts.prompt} prompt={prompt} />
      <div class="field-row">
        <Field name={texts.duration}>
          <input
            name="duration"
            type="number"
            min={lengths?.min ?? 1}
            max={lengths?.max}
            placeholder={lengths === undefined ? undefined : String(lengths.default)}
            value={duration.value}
            onInput={(event) => duration.value = event.currentTarget.value}
          />
        </Field>
        <OptionField name={texts.resolution} options={resolutions} value={resolution} hasDefault />
      </div>
      <div class="field-row">
        <OptionField name={texts.aspectRatio} options={ratios} value={aspectRatio} hasDefault />
        <OptionField name={texts.audio} options={["true", "false"]} value={audio} hasDefault />
      </div>
      <Field name={texts.seed}>
        <input
          name="seed"
          type="number"
          min={-1}
          value={seed.value}
          onInput={(event) => seed.value = event.currentTarget.value}
        />
      </Field>
      <Sources state={state} />
      {estimateError.value !== null && <ErrorNotice error={estimateError.value} />}
      {estimate.value !== null && (
        <p class="hint" role="status">
          {texts.estimated(dollars(estimate.value.cost))}
          {estimate.value.dropped.length > 0 &&
            ` · ${TEXTS.playground.facts.dropped(estimate.value.dropped.join(", "))}`}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary" disabled={!isReady}>{TEXTS.playground.pictures.create}</button>
        <button type="button" disabled={!isReady} onClick={() => void state.ask()}>{texts.estimate}</button>
      </div>
    </form>
  );
}

/** Frames and references exclude each other. */
function Sources({ state: { firstFrame, lastFrame, references } }: { readonly state: VideoState }) {
  const hasFrames = firstFrame.value.length > 0 || lastFrame.value.length > 0;
  return (
    <>
      {references.value.length === 0 && (
        <>
          <FileInput
            title={texts.firstFrame}
            accept="image/*"
            max={1}
            files={firstFrame.value}
            onChange={(files) => firstFrame.value = files}
          />
          {firstFrame.value.length > 0 && (
            <FileInput
              title={texts.lastFrame}
              accept="image/*"
              max={1}
              files={lastFrame.value}
              onChange={(files) => lastFrame.value = files}
            />
          )}
        </>
      )}
      {!hasFrames && (
        <FileInput
          title={texts.references}
          accept="image/*,audio/*,video/*"
          max={MAX_REFERENCES}
          files={references.value}
          onChange={(files) => references.value = files}
        />
      )}
    </>
  );
}
