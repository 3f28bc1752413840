import { Field } from "../../../components/action_form.tsx";
import { JsonEditor } from "../../../components/json_editor.tsx";
import { TEXTS } from "../../../texts.ts";
import type { ProtocolName, Thinking } from "../conversation.ts";
import { PROTOCOL_NAMES } from "../protocols/all.ts";
import { type ChatState, checkTool, type ToolDraft } from "./chat_state.ts";

const texts = TEXTS.playground.chat;
const LEVELS: readonly Thinking[] = ["default", "off", "low", "medium", "high"];

/** Where the settings have a place beside the conversations, as in the style sheet. */
const WIDE = "(min-width: 1001px)";

/** The settings of the conversations. In narrow windows they are folded at first. */
export function Settings({ state, isOfBatch = false }: {
  readonly state: ChatState;
  /** Whether a batch gets them, whose lines have one protocol and any number of models. Default: false. */
  readonly isOfBatch?: boolean;
}) {
  const { protocol, hasTwo, system, temperature, maxTokens, thinking } = state;
  return (
    <details class="card play-settings" open={matchMedia(WIDE).matches}>
      <summary>
        <h2>{texts.settings}</h2>
      </summary>
      {!isOfBatch && (
        <Field name={texts.protocol}>
          <select
            name="protocol"
            value={protocol.value}
            onChange={(event) => protocol.value = event.currentTarget.value as ProtocolName}
          >
            {PROTOCOL_NAMES.map((name) => <option key={name} value={name}>{texts.protocols[name]}</option>)}
          </select>
        </Field>
      )}
      <Field name={texts.system}>
        <textarea
          name="system"
          rows={3}
          value={system.value}
          onInput={(event) => system.value = event.currentTarget.value}
        />
      </Field>
      <div class="field-row">
        <Field name={texts.temperature}>
          <input
            name="temperature"
            type="number"
            min={0}
            max={2}
            step={0.1}
            value={temperature.value}
            onInput={(event) => temperature.value = event.currentTarget.value}
          />
        </Field>
        <Field name={texts.maxTokens}>
          <input
            name="maxTokens"
            type="number"
            min={1}
            step={1}
            value={maxTokens.value}
            onInput={(event) => maxTokens.value = event.currentTarget.value}
          />
        </Field>
      </div>
      <Field name={texts.thinking}>
        <select
          name="thinking"
          value={thinking.value}
          onChange={(event) => thinking.value = event.currentTarget.value as Thinking}
        >
          {LEVELS.map((level) => <option key={level} value={level}>{texts.thinkingLevels[level]}</option>)}
        </select>
      </Field>
      {!isOfBatch && (
        <label class="check">
          <input
            type="checkbox"
            checked={hasTwo.value}
            onChange={(event) => hasTwo.value = event.currentTarget.checked}
          />
          {texts.compare}
        </label>
      )}
      <Schema state={state} />
      <Tools state={state} />
    </details>
  );
}

function Schema({ state: { hasSchema, schemaText, schema } }: { readonly state: ChatState }) {
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          name="structured"
          checked={hasSchema.value}
          onChange={(event) => hasSchema.value = event.currentTarget.checked}
        />
        {texts.structured}
      </label>
      {hasSchema.value && (
        <JsonEditor
          name={texts.schema}
          value={schemaText.value}
          isInvalid={schema.value === null}
          onInput={(text) => schemaText.value = text}
        >
          {schema.value === null && <span class="problem" role="alert">{texts.schemaProblem}</span>}
        </JsonEditor>
      )}
    </>
  );
}

function Tools({ state }: { readonly state: ChatState }) {
  return (
    <fieldset class="tools">
      <legend>{texts.tools}</legend>
      {state.tools.value.map((draft) => <ToolEditor key={draft.id} draft={draft} state={state} />)}
      <button type="button" class="small" onClick={() => state.addTool()}>{texts.addTool}</button>
    </fieldset>
  );
}

function ToolEditor({ draft, state }: { readonly draft: ToolDraft; readonly state: ChatState }) {
  const { id, definition, mockResult } = draft;
  const { problem } = checkTool(draft);
  return (
    <div class="tool">
      <JsonEditor
        name={texts.toolDefinition}
        value={definition}
        isInvalid={problem !== null}
        onInput={(text) => state.changeTool(id, { definition: text })}
      >
        {problem !== null && <span class="problem" role="alert">{texts.toolProblems[problem]}</span>}
      </JsonEditor>
      <Field name={texts.mockResult}>
        <textarea
          class="code"
          rows={2}
          spellcheck={false}
          value={mockResult}
          onInput={(event) => state.changeTool(id, { mockResult: event.currentTarget.value })}
        />
      </Field>
      <button type="button" class="small" onClick={() => state.removeTool(id)}>{texts.removeTool}</button>
    </div>
  );
}
