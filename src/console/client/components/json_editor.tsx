import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { TEXTS } from "../texts.ts";
import type { JsonEditorView, openJsonEditor } from "./json_editor_view.ts";

/** Properties of a {@linkcode JsonEditor}. */
export interface JsonEditorProps {
  readonly name: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Whether the value cannot be used. Default: false. */
  readonly isInvalid?: boolean;
  /** What is shown below it, such as a problem. Default: nothing. */
  readonly children?: ComponentChildren;
}

/**
 * A field of a form for JSON. Its editor is loaded when the first one is shown; until then, and if it cannot be loaded,
 * the field is a plain text.
 */
export function JsonEditor(props: JsonEditorProps) {
  const { name, value, onInput, isInvalid = false, children } = props;
  const text = useRef<HTMLTextAreaElement>(null);
  const [open, setOpen] = useState<typeof openJsonEditor | null>(null);
  useEffect(() => {
    let isShown = true;
    import("./json_editor_view.ts").then(({ openJsonEditor }) => {
      // A text in which somebody writes stays.
      if (isShown && text.current !== document.activeElement) setOpen(() => openJsonEditor);
    }, () => {});
    return () => void (isShown = false);
  }, []);
  if (open !== null) return <LoadedEditor {...props} open={open} />;
  return (
    <label class="field">
      <span>{name}</span>
      <textarea
        ref={text}
        class="code"
        rows={Math.min(Math.max(value.split("\n").length + 1, 4), 30)}
        spellcheck={false}
        aria-invalid={isInvalid}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {children}
    </label>
  );
}

function LoadedEditor({ name, value, onInput, isInvalid = false, children, open }: JsonEditorProps & {
  readonly open: typeof openJsonEditor;
}) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<JsonEditorView | null>(null);
  /** Texts that the editor has passed on, and that are not shown yet. */
  const written = useRef<string[]>([]);
  const latest = useRef(onInput);
  latest.current = onInput;
  useEffect(() => {
    if (place.current === null) return;
    const opened = open(place.current, {
      name,
      description: TEXTS.app.leaveEditor,
      value,
      isInvalid,
      onInput(text) {
        written.current.push(text);
        latest.current(text);
      },
    });
    view.current = opened;
    return () => opened.close();
  }, []);
  useEffect(() => {
    // What was written comes back as value, perhaps after more was written.
    const own = written.current.indexOf(value);
    written.current.splice(0, own + 1);
    view.current?.update({ value: own < 0 ? value : null, isInvalid });
  }, [value, isInvalid]);
  return (
    <div class="field json-editor">
      <div class="editor-head">
        <span onClick={() => view.current?.focus()}>{name}</span>
        <span class="hint" aria-hidden="true">{TEXTS.app.leaveEditorShort}</span>
      </div>
      <div ref={place} />
      {children}
    </div>
  );
}
