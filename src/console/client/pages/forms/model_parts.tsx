import { Field } from "../../components/action_form.tsx";
import { Choice } from "../../components/choice.tsx";
import { CheckField, TextField } from "../../components/text_field.tsx";
import { TEXTS } from "../../texts.ts";
import { hasContext, type ModelFields } from "./model_entry.ts";
import { MODEL_KINDS, type ModelPrice, modelPriceFields } from "./model_prices.ts";
import { IMAGE_SERIES, secondPriceNames, SOUNDS, VIDEO_MODES } from "./model_sections.ts";

const texts = TEXTS.forms.model;

/** What the parts of the form of a model get. */
export interface PartProps {
  readonly typed: ModelFields;
  readonly set: (changes: Partial<ModelFields>) => void;
}

/** What the model makes, and what its kind has besides prices. */
export function Abilities({ typed, set }: PartProps) {
  return (
    <>
      <div class="field">
        <span>{texts.kind}</span>
        <div>
          <Choice
            label={texts.kind}
            values={MODEL_KINDS}
            titles={texts.kinds}
            value={typed.kind}
            onChange={(kind) => set({ kind })}
          />
        </div>
      </div>
      {hasContext(typed.kind) && <Tokens typed={typed} set={set} />}
      {typed.kind === "image" && <ImageSection typed={typed} set={set} />}
      {typed.kind === "video" && <VideoSection typed={typed} set={set} />}
      {typed.kind === "speech" && (
        <TextField
          title={TEXTS.forms.optional(texts.voices)}
          value={typed.voices}
          hint={texts.voicesHint}
          onInput={(voices) => set({ voices })}
        />
      )}
      {typed.kind === "transcription" && (
        <CheckField
          title={texts.translates}
          isChecked={typed.translates}
          onChange={(translates) => set({ translates })}
        />
      )}
    </>
  );
}

function Tokens({ typed, set }: PartProps) {
  return (
    <>
      <div class="field-row">
        <TextField
          title={TEXTS.forms.optional(texts.context)}
          value={typed.context}
          inputMode="numeric"
          onInput={(context) => set({ context })}
        />
        {typed.kind === "text" && (
          <TextField
            title={TEXTS.forms.optional(texts.maxOutput)}
            value={typed.maxOutput}
            inputMode="numeric"
            onInput={(maxOutput) => set({ maxOutput })}
          />
        )}
      </div>
      {typed.kind === "text" && (
        <CheckField
          title={texts.takesImages}
          isChecked={typed.takesImages}
          onChange={(takesImages) => set({ takesImages })}
        />
      )}
    </>
  );
}

function ImageSection({ typed, set }: PartProps) {
  const choose = (wanted: string) => {
    const series = IMAGE_SERIES.find((each) => each === wanted);
    if (series !== undefined) set({ series });
  };
  return (
    <>
      <Field name={texts.series}>
        <select value={typed.series} onChange={(event) => choose(event.currentTarget.value)}>
          {IMAGE_SERIES.map((each) => <option key={each} value={each}>{texts.seriesNames[each]}</option>)}
        </select>
      </Field>
      {typed.series !== "multimodal" && (
        <CheckField
          title={texts.editsImages}
          isChecked={typed.editsImages}
          onChange={(editsImages) => set({ editsImages })}
        />
      )}
    </>
  );
}

function VideoSection({ typed, set }: PartProps) {
  const { modes } = typed;
  return (
    <>
      <fieldset>
        <legend>{texts.modes}</legend>
        {VIDEO_MODES.map((mode) => (
          <CheckField
            key={mode}
            title={texts.modeNames[mode]}
            isChecked={modes.includes(mode)}
            onChange={(isOn) =>
              set({ modes: VIDEO_MODES.filter((each) => each === mode ? isOn : modes.includes(each)) })}
          />
        ))}
      </fieldset>
      <div class="field">
        <span>{texts.sound}</span>
        <div>
          <Choice
            label={texts.sound}
            values={SOUNDS}
            titles={texts.sounds}
            value={typed.sound}
            onChange={(sound) => set({ sound })}
          />
        </div>
      </div>
      <TextField
        title={TEXTS.forms.optional(texts.lengths)}
        value={typed.lengths}
        hint={texts.lengthsHint}
        onInput={(lengths) => set({ lengths })}
      />
    </>
  );
}

/** The prices of the kind, in the units of the vendors' price lists. */
export function Prices({ typed, set }: PartProps) {
  const { kind, isFree, prices } = typed;
  if (kind === "video") return <SecondPrices typed={typed} set={set} />;
  const isByToken = kind === "text" || kind === "embedding";
  return (
    <fieldset>
      <legend>{isByToken ? texts.prices : texts.pricesOfAny}</legend>
      <CheckField title={texts.isFree} isChecked={isFree} onChange={(isFree) => set({ isFree })} />
      {!isFree && (
        <div class="field-row">
          {modelPriceFields(kind, prices).map(({ name, text, isRequired }) => (
            <Price
              key={name}
              title={titleOf(name, { isByToken, isOptional: !isRequired && isByToken })}
              value={text}
              isRequired={isRequired}
              onInput={(value) => set({ prices: { ...prices, [name]: value } })}
            />
          ))}
        </div>
      )}
      {!isFree && !isByToken && kind !== "moderation" && <p class="hint">{texts.anyPrice}</p>}
    </fieldset>
  );
}

const TOKEN_TITLES: Readonly<Partial<Record<ModelPrice, string>>> = texts.tokenPrices;
const TITLES: Readonly<Partial<Record<ModelPrice, string>>> = texts.priceNames;

function titleOf(
  name: ModelPrice,
  { isByToken, isOptional }: { readonly isByToken: boolean; readonly isOptional: boolean },
): string {
  const title = (isByToken ? TOKEN_TITLES : TITLES)[name] ?? name;
  return isOptional ? TEXTS.forms.optional(title) : title;
}

function SecondPrices({ typed, set }: PartProps) {
  const { perSecond } = typed;
  const hasAny = Object.values(perSecond).some((text) => text.trim() !== "");
  return (
    <fieldset>
      <legend>{texts.pricesOfSeconds}</legend>
      <div class="field-row">
        {secondPriceNames(typed).map((name) => (
          <Price
            key={name}
            title={texts.secondOf(name)}
            value={perSecond[name] ?? ""}
            isRequired={!hasAny}
            onInput={(value) => set({ perSecond: { ...perSecond, [name]: value } })}
          />
        ))}
      </div>
      <p class="hint">{texts.secondsHint}</p>
    </fieldset>
  );
}

function Price(props: Omit<Parameters<typeof TextField>[0], "inputMode" | "placeholder">) {
  return <TextField {...props} inputMode="decimal" placeholder="0.00" />;
}
