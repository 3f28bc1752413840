import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { ErrorNotice } from "../../../components/error_notice.tsx";
import { bytes } from "../../../format.ts";
import { TEXTS } from "../../../texts.ts";
import { MAX_FILE_BYTES, readAttachment } from "../attachment.ts";
import { ChosenFiles } from "../file_input.tsx";
import type { Media } from "../conversation.ts";
import { canSend } from "../payer.ts";
import type { ChatState } from "./chat_state.ts";
import type { Pane, PaneRequest } from "./pane.ts";

const texts = TEXTS.playground.chat;

/** A message that is not sent, and the models that would get it. */
export interface WrittenMessage {
  readonly text: string;
  readonly files: readonly Media[];
  readonly models: readonly string[];
}

/** Where a message is written. It goes to every pane. */
export function Composer({ form, state, onBatch, requestFor }: {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly state: ChatState;
  readonly onBatch: (written: WrittenMessage) => void;
  readonly requestFor: (pane: Pane) => PaneRequest;
}) {
  const { prompt, files, shown, isValid } = state;
  const [problem, setProblem] = useState<string | null>(null);
  const panes = shown.value;
  const isRunning = panes.some((pane) => pane.isRunning);
  const hasCalls = panes.some((pane) => pane.pendingCalls.length > 0);
  const isEmpty = prompt.value.trim() === "" && files.value.length === 0;
  const isReady = canSend() && !isRunning && !hasCalls && !isEmpty && isValid.value;

  const send = () => {
    if (!isReady) return;
    const text = prompt.value.trim();
    const message = {
      role: "user" as const,
      parts: [...files.value, ...text === "" ? [] : [{ kind: "text" as const, text }]],
    };
    prompt.value = "";
    files.value = [];
    for (const pane of panes) void pane.send(message, requestFor(pane));
  };
  const runAsBatch = () => {
    onBatch({ text: prompt.value, files: files.value, models: panes.map(({ model }) => model.value) });
    prompt.value = "";
    files.value = [];
  };
  const attach = async (chosen: Iterable<File>) => {
    setProblem(null);
    for (const file of chosen) {
      try {
        const read = await readAttachment(file);
        files.value = [...files.value, read];
      } catch (error) {
        const isLarge = error instanceof RangeError;
        setProblem(isLarge ? texts.tooLarge(file.name, bytes(MAX_FILE_BYTES)) : texts.unreadable(file.name));
      }
    }
  };
  return (
    <form
      ref={form}
      class="card composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {files.value.length > 0 && (
        <ChosenFiles
          label={texts.attached}
          files={files.value}
          onChange={(left) => files.value = left}
        />
      )}
      <textarea
        name="prompt"
        rows={2}
        aria-label={texts.prompt}
        placeholder={texts.promptHint}
        value={prompt.value}
        onInput={(event) => prompt.value = event.currentTarget.value}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
        onPaste={(event) => {
          const pasted = [...event.clipboardData?.files ?? []];
          if (pasted.length === 0) return;
          event.preventDefault();
          void attach(pasted);
        }}
      />
      {problem !== null && <ErrorNotice message={problem} />}
      {(hasCalls || !isValid.value) && <p class="hint">{hasCalls ? texts.resultsFirst : texts.invalid}</p>}
      <div class="actions">
        <label class="button file-button">
          {texts.attach}
          <input
            type="file"
            multiple
            class="visually-hidden"
            onChange={(event) => {
              void attach([...event.currentTarget.files ?? []]);
              event.currentTarget.value = "";
            }}
          />
        </label>
        {panes.some((pane) => pane.turns.value.length > 0) && (
          <button
            type="button"
            onClick={() => panes.forEach((pane) => pane.clear())}
          >
            {texts.clear}
          </button>
        )}
        <span class="grow" />
        <button type="button" disabled={isEmpty} onClick={runAsBatch}>{texts.asBatch}</button>
        {isRunning
          ? (
            <button type="button" class="danger" onClick={() => panes.forEach((pane) => pane.stop())}>
              {texts.stop}
            </button>
          )
          : <button type="submit" class="primary" disabled={!isReady}>{texts.send}</button>}
      </div>
    </form>
  );
}
