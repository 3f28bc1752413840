import { Field } from "../../../components/action_form.tsx";
import { Choice } from "../../../components/choice.tsx";
import type { ListedModel } from "../../../shapes.ts";
import { TEXTS } from "../../../texts.ts";
import { FileInput } from "../file_input.tsx";
import { MediaWorkspace, PromptField } from "../media_workspace.tsx";
import { ModelChoice } from "../model_choice.tsx";
import { canSend } from "../payer.ts";
import { OptionField } from "../option_field.tsx";
import { MaskPainter } from "./mask_painter.tsx";
import type { ImageUse } from "./picture_request.ts";
import { ImageRunView } from "./picture_run_view.tsx";
import type { ImageState } from "./picture_state.ts";

const texts = TEXTS.playground.pictures;
const QUALITIES = ["auto", "low", "medium", "high", "standard", "hd"];
const SIZES = [
  "auto",
  "1024x1024",
  "1536x1024",
  "1024x1536",
  "1792x1024",
  "1024x1792",
  "512x512",
  "256x256",
];
const BACKGROUNDS = ["auto", "transparent", "opaque"];
const FORMATS = ["png", "jpeg", "webp"];
const USES: readonly ImageUse[] = ["edit", "reference"];
const MAX_IMAGES = 8;

/** Images from a prompt, from other pictures, or from a picture of which a part may change. */
export function Images({ state, models }: { readonly state: ImageState; readonly models: readonly ListedModel[] }) {
  return (
    <MediaWorkspace
      models={models}
      output="image"
      model={state.model}
      order={(usable) => <Order state={state} models={usable} />}
      runs={state.runs.value.map((run) => (
        <ImageRunView
          key={run.id}
          run={run}
          onUse={(picture, use) => state.choose([picture], use)}
        />
      ))}
      empty={texts}
    />
  );
}

function Order({ state, models }: { readonly state: ImageState; readonly models: readonly ListedModel[] }) {
  const { model, prompt, quality, size, count, background, format, lacksPictures } = state;
  const isReady = canSend() && !lacksPictures.value && prompt.value.trim() !== "" && !state.isRunning;
  return (
    <form
      class="card play-settings"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void state.run();
      }}
    >
      <ModelChoice
        name={TEXTS.playground.model}
        models={models}
        value={model.value}
        onChange={(id) => model.value = id}
      />
      <PromptField name={texts.prompt} prompt={prompt} />
      <div class="field-row">
        <OptionField name={texts.quality} options={QUALITIES} value={quality} />
        <OptionField name={texts.size} options={SIZES} value={size} hasDefault />
      </div>
      <div class="field-row">
        <Field name={texts.count}>
          <input
            name="count"
            type="number"
            min={1}
            max={10}
            value={count.value}
            onInput={(event) => count.value = event.currentTarget.value}
          />
        </Field>
        <OptionField name={texts.format} options={FORMATS} value={format} hasDefault />
      </div>
      <OptionField name={texts.background} options={BACKGROUNDS} value={background} hasDefault />
      {lacksPictures.value && <p class="notice">{texts.chooseAgain}</p>}
      <SourcePictures state={state} />
      {state.isRunning
        ? <button type="button" class="danger" onClick={() => state.stop()}>{TEXTS.playground.chat.stop}</button>
        : <button type="submit" class="primary" disabled={!isReady}>{texts.create}</button>}
    </form>
  );
}

function SourcePictures({ state }: { readonly state: ImageState }) {
  const { pictures, use, mask } = state;
  const [first] = pictures.value;
  return (
    <>
      <FileInput
        title={texts.addPictures}
        accept="image/png,image/jpeg,image/webp"
        files={pictures.value}
        max={MAX_IMAGES}
        onChange={(files) => state.choose(files)}
      />
      {first !== undefined && (
        <>
          <Choice
            label={texts.use}
            values={USES}
            titles={texts.uses}
            value={use.value}
            onChange={(chosen) => use.value = chosen}
          />
          {use.value === "edit" && (
            <MaskPainter
              key={first.data.length}
              picture={first}
              mask={mask.value}
              onChange={(painted) => mask.value = painted}
            />
          )}
        </>
      )}
    </>
  );
}
