import { useState } from "preact/hooks";
import { ApiError } from "../../api.ts";
import { ActionForm } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { JsonEditor } from "../../components/json_editor.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { hrefOf } from "../../navigation.ts";
import type { ConfigInForce, ConfigSetting } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { type ConfigRequest, editedValue, entryPath, hasObjects, storeRequest } from "./config_change.ts";
import { useConfirmedChange } from "./confirmed_change.tsx";
import { isJsonObject } from "./merge_patch.ts";
import { OwnerBadge, ownerOf } from "./owner_badge.tsx";
import { readOnlyReason } from "./read_only_reason.ts";
import { SettingMeaning } from "./setting_meaning.tsx";

const INDENT = 2;

/** One setting: its value and its owner. Owners change it if the store may own it. */
export function ConfigEntryDetails({ config, section, name, onChanged }: {
  readonly config: ConfigInForce;
  readonly section: string;
  readonly name: string;
  readonly onChanged: () => void;
}) {
  const setting = config.settings[section]?.[name];
  const reason = readOnlyReason(setting, section, config);
  return (
    <>
      <p class="back">
        <a href={hrefOf("configuration")}>← {TEXTS.configuration.back}</a>
      </p>
      <PageHead title={<code class="title-code">{name === "" ? section : `${section}.${name}`}</code>}>
        {setting !== undefined && <OwnerBadge setting={setting} />}
      </PageHead>
      <div class="grid">
        {reason === null
          ? <Editor setting={setting} section={section} name={name} onChanged={onChanged} />
          : (
            <Card title={TEXTS.configuration.value} isWide>
              <p class="hint">{reason}</p>
              {setting !== undefined && <pre tabIndex={0}>{JSON.stringify(setting.value, null, INDENT)}</pre>}
            </Card>
          )}
        <SettingMeaning section={section} name={name} />
      </div>
    </>
  );
}

function Editor({ setting, section, name, onChanged }: {
  /** Undefined for a new entry. */
  readonly setting: ConfigSetting | undefined;
  readonly section: string;
  readonly name: string;
  readonly onChanged: () => void;
}) {
  const before = setting === undefined ? undefined : editedValue(section, setting.value);
  const initial = before === undefined ? hasObjects(section) ? "{}" : '""' : JSON.stringify(before, null, INDENT);
  const [text, setText] = useState(initial);
  const [applied, setApplied] = useState<number | null>(null);
  const { preview, steps } = useConfirmedChange(({ version }) => {
    setApplied(version);
    onChanged();
  });
  const tryChange = async (request: ConfigRequest) => {
    setApplied(null);
    await preview(request);
  };
  const submit = async () => {
    const after = readValue(text, section);
    await tryChange(storeRequest({ section, name, before, after }));
  };
  return (
    <Card title={setting === undefined ? TEXTS.configuration.newTitle : TEXTS.configuration.edit} isWide>
      {initial.includes("(set)") && <p class="hint">{TEXTS.configuration.secretsHint}</p>}
      <ActionForm submit={TEXTS.configuration.preview} onSubmit={submit} isKept>
        <JsonEditor name={TEXTS.configuration.valueLabel} value={text} onInput={setText} />
      </ActionForm>
      {steps}
      {applied !== null && <p class="notice good" role="status">{TEXTS.configuration.applied(String(applied))}</p>}
      {setting !== undefined && ownerOf(setting) === "store" && (
        <button
          type="button"
          class="danger"
          onClick={() => void tryChange({ method: "DELETE", path: entryPath(section, name), body: null })}
        >
          {TEXTS.configuration.remove}
        </button>
      )}
    </Card>
  );
}

/** @throws {ApiError} If the text is not the JSON that the section needs. */
function readValue(text: string, section: string): unknown {
  const refuse = (message: string) => new ApiError(message, 0, "invalid_json", null);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(TEXTS.configuration.badJson((error as Error).message));
  }
  if (hasObjects(section) && !isJsonObject(value)) throw refuse(TEXTS.configuration.needsObject);
  return value;
}
