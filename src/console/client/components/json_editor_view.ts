import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Options of {@linkcode openJsonEditor}. */
export interface JsonEditorOptions {
  readonly value: string;
  readonly isInvalid: boolean;
  /** For screen readers. */
  readonly name: string;
  /** How the keyboard leaves the editor, for screen readers. */
  readonly description: string;
  readonly onInput: (value: string) => void;
}

/** An open editor. */
export interface JsonEditorView {
  /** Shows another text; null leaves the text as it is, with its cursor. */
  update(content: { readonly value: string | null; readonly isInvalid: boolean }): void;
  focus(): void;
  close(): void;
}

const THEME = EditorView.theme({
  "&": {
    border: "1px solid var(--line)",
    borderRadius: "8px",
    background: "var(--surface)",
    color: "var(--text)",
    font: "12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { font: "inherit", maxHeight: "60vh", overflow: "auto" },
  ".cm-content": { padding: "6px 6px", minHeight: "6em", caretColor: "var(--text)" },
  ".cm-activeLine": { background: "transparent" },
  "&.cm-focused .cm-activeLine": { background: "var(--raised)" },
  "&.cm-focused .cm-matchingBracket": { background: "none", outline: "1px solid var(--muted)" },
  "&.cm-focused .cm-nonmatchingBracket": { background: "var(--bad-ground)" },
  ".cm-tooltip": { border: "1px solid var(--line)", background: "var(--raised)", color: "var(--text)" },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
]);

const EXTENSIONS: readonly Extension[] = [
  history(),
  json(),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  syntaxHighlighting(COLOURS),
  linter(jsonParseLinter()),
  EditorView.lineWrapping,
  // Tab indents; Escape and then Tab leaves the editor, as CodeMirror documents for every keymap.
  keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap]),
  THEME,
];

/**
 * Opens an editor in a place. Its styles are sheets that scripts construct for a shadow root, as the policy of the page
 * allows no style elements.
 */
export function openJsonEditor(place: HTMLElement, options: JsonEditorOptions): JsonEditorView {
  const { name, description, onInput } = options;
  const root = place.attachShadow({ mode: "open" });
  const validity = new Compartment();
  const attributes = (isInvalid: boolean) =>
    EditorView.contentAttributes.of({
      "aria-label": name,
      "aria-description": description,
      "aria-invalid": String(isInvalid),
    });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: options.value,
      extensions: [
        ...EXTENSIONS,
        validity.of(attributes(options.isInvalid)),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) onInput(state.doc.toString());
        }),
      ],
    }),
  });
  return {
    update({ value, isInvalid }) {
      const isShown = value === null || view.state.doc.toString() === value;
      const changes = isShown ? [] : [{ from: 0, to: view.state.doc.length, insert: value }];
      view.dispatch({ changes, effects: validity.reconfigure(attributes(isInvalid)) });
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}
