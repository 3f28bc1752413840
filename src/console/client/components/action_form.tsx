import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "../api.ts";
import { ErrorNotice } from "./error_notice.tsx";

/** A form that changes something. It shows the error of a refused change, and is emptied after a change. */
export function ActionForm(
  { submit, onSubmit, children, isDangerous = false, isKept = false, isDisabled = false, isPlain = false }: {
    /** The text of its button. */
    readonly submit: string;
    /** Rejects with an `ApiError` if the change is refused. */
    readonly onSubmit: (fields: FormData) => Promise<void>;
    readonly children?: ComponentChildren;
    /** Whether the change takes something away. Default: false. */
    readonly isDangerous?: boolean;
    /** Whether its fields stay as they are after a change. Default: false. */
    readonly isKept?: boolean;
    /** Whether the change cannot be made now. Default: false. */
    readonly isDisabled?: boolean;
    /** Whether its button is less prominent than others. Default: false. */
    readonly isPlain?: boolean;
  },
) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setError(null);
    try {
      await onSubmit(new FormData(form));
      if (!isKept) form.reset();
    } catch (failure) {
      setError(failure as ApiError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="action-form" onSubmit={run}>
      {children}
      <button
        type="submit"
        class={isDangerous ? "danger" : isPlain ? "small" : "primary"}
        disabled={isBusy || isDisabled}
      >
        {submit}
      </button>
      {error !== null && <ErrorNotice error={error} />}
    </form>
  );
}

/** A field of a form with its name. */
export function Field({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{name}</span>
      {children}
    </label>
  );
}
