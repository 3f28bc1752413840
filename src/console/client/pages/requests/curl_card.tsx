import { useState } from "preact/hooks";
import { Card } from "../../components/card.tsx";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { curlText } from "./curl_text.ts";
import type { LoggedRequest } from "./logged_request.ts";

/** The request as a command line, which can be copied. */
export function CurlCard({ request: { method, path }, body }: {
  readonly request: LoggedRequest;
  /** As captured; null if it was not read or not kept. */
  readonly body: string | null;
}) {
  const [isCopied, setCopied] = useState(false);
  const text = curlText({ method, path, body, address: session.value?.base_url ?? "" });
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <Card
      title={TEXTS.requests.curl}
      actions={globalThis.isSecureContext && (
        <button
          type="button"
          class="small"
          onClick={() => void copy().catch(() => setCopied(false))}
        >
          {isCopied ? TEXTS.app.copied : TEXTS.app.copy}
        </button>
      )}
    >
      <pre tabIndex={0}>{text}</pre>
      {body === null && <p class="hint">{TEXTS.requests.curlHint}</p>}
    </Card>
  );
}
