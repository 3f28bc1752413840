import { useState } from "preact/hooks";
import type { ApiError } from "./api.ts";
import { ErrorNotice } from "./components/error_notice.tsx";
import { Mark } from "./components/icon.tsx";
import { signIn } from "./session.ts";
import { hasEnded } from "./session_state.ts";
import { TEXTS } from "./texts.ts";

/** The sign-in page. */
export function SignIn({ problem }: {
  /** Why the link in the address did not sign in; null if it did not fail. */
  readonly problem: ApiError | null;
}) {
  const [error, setError] = useState<ApiError | null>(problem);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("key") as HTMLInputElement;
    setBusy(true);
    setError(null);
    try {
      await signIn(field.value.trim());
    } catch (failure) {
      setError(failure as ApiError);
      field.select();
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <form class="card sign-in-card" onSubmit={submit}>
        <h1 class="brand">
          <Mark /> {TEXTS.app.name}
        </h1>
        {hasEnded.value && error === null && <p class="notice" role="status">{TEXTS.signIn.ended}</p>}
        <label class="field">
          <span>{TEXTS.signIn.key}</span>
          <input
            name="key"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            spellcheck={false}
            maxLength={512}
            aria-describedby="sign-in-hint"
          />
        </label>
        <p id="sign-in-hint" class="hint">{TEXTS.signIn.hint}</p>
        {error !== null && <ErrorNotice error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? TEXTS.signIn.busy : TEXTS.signIn.submit}
        </button>
      </form>
    </main>
  );
}
