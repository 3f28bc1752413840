import type { ApiError } from "../api.ts";
import { TEXTS } from "../texts.ts";

/** What failed, with the id of the request, by which an operator finds it in the log. */
export function ErrorNotice({ error, message = error?.message }: {
  readonly error?: Pick<ApiError, "message" | "requestId">;
  /** Default: that of the error. */
  readonly message?: string | undefined;
}) {
  const requestId = error?.requestId ?? null;
  return (
    <div class="notice bad" role="alert">
      <p>{message}</p>
      {requestId !== null && (
        <p class="hint">
          {TEXTS.app.requestId} <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}
