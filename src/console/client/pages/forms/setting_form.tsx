import type { ComponentChildren } from "preact";
import { Card } from "../../components/card.tsx";
import { CopyButton } from "../../components/copy_button.tsx";
import { TEXTS } from "../../texts.ts";
import { storeRequest } from "../configuration/config_change.ts";
import { useConfirmedChange } from "../configuration/confirmed_change.tsx";
import { readOnlyReason } from "../configuration/read_only_reason.ts";
import { settingHref } from "../configuration/setting_href.ts";
import type { ConfigInForce } from "../../shapes.ts";
import { yamlText } from "./yaml_text.ts";

/** The setting that a form writes. */
export interface FormSetting {
  readonly section: "providers" | "models" | "aliases";
  /** Empty until it can be known. */
  readonly name: string;
  /** The active value; undefined for a new setting. */
  readonly before: unknown;
  readonly after: unknown;
  /** The same as in a file; null for nothing to show. */
  readonly inFile: unknown;
}

/**
 * A form of one setting: its fields, the difference that is written, and the same as a part of the file. Gateways whose
 * configuration does not change, and operators who may not change it, have the part of the file.
 */
export function SettingForm({ config, setting, children, onApplied }: {
  readonly config: ConfigInForce;
  readonly setting: FormSetting;
  /** The fields. */
  readonly children: ComponentChildren;
  readonly onApplied: () => void;
}) {
  const { section, name, before, after, inFile } = setting;
  const { preview, discard, isShown, steps } = useConfirmedChange(onApplied);
  const known = config.settings[section]?.[name];
  const isTaken = before === undefined && known !== undefined;
  const reason = readOnlyReason(before === undefined ? undefined : known, section, config);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    await preview(storeRequest({ section, name, before, after }));
  };
  return (
    <div class="grid form-grid">
      <Card title={TEXTS.forms.settings}>
        {reason !== null && <p class="notice">{reason}</p>}
        <form class="setting-form" onInput={discard} onSubmit={(event) => void submit(event)}>
          {children}
          {isTaken && <p class="problem" role="status">{TEXTS.forms.exists(name)}</p>}
          {reason === null && (
            <button type="submit" class={isShown ? "" : "primary"} disabled={isTaken || name === ""}>
              {TEXTS.forms.preview}
            </button>
          )}
        </form>
        {steps}
      </Card>
      {inFile !== null && (
        <Card
          title={TEXTS.forms.inFile}
          actions={<CopyButton text={() => yamlText(inFile)} />}
        >
          <pre tabIndex={0} aria-label={TEXTS.forms.inFile}>{yamlText(inFile)}</pre>
          <p class="hint">
            {TEXTS.forms.inFileHint}{" "}
            {before !== undefined && <a href={settingHref(section, name)}>{TEXTS.forms.asJson}</a>}
          </p>
        </Card>
      )}
    </div>
  );
}
