import { useId } from "preact/hooks";

/** A field for a text, with an explanation below it. */
export function TextField({ title, value, onInput, hint = "", type = "text", isRequired = false, ...others }: {
  readonly title: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Default: none. */
  readonly hint?: string;
  /** Default: `text`. */
  readonly type?: "text" | "password";
  /** Default: false. */
  readonly isRequired?: boolean;
  /** Default: none. */
  readonly placeholder?: string;
  /** Which keyboard a phone shows. Default: that for texts. */
  readonly inputMode?: "decimal" | "numeric" | "url";
  /** Values that the browser suggests. Default: none. */
  readonly suggestions?: readonly string[];
}) {
  const id = useId();
  const { placeholder, inputMode, suggestions = [] } = others;
  const input = {
    id,
    value,
    required: isRequired,
    placeholder,
    inputMode,
    spellcheck: false,
    maxLength: 500,
    "aria-describedby": hint === "" ? undefined : `${id}-hint`,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
  };
  const list = suggestions.length === 0 ? undefined : `${id}-list`;
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {type === "password"
        ? <input {...input} type="password" autocomplete="new-password" />
        : <input {...input} type="text" autocomplete="off" list={list} />}
      {hint !== "" && <span id={`${id}-hint`} class="hint">{hint}</span>}
      {suggestions.length > 0 && (
        <datalist id={`${id}-list`}>{suggestions.map((each) => <option key={each} value={each} />)}</datalist>
      )}
    </div>
  );
}

/** A box that is ticked or not. */
export function CheckField({ title, isChecked, onChange }: {
  readonly title: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {title}
    </label>
  );
}
