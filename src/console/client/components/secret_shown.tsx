import { useState } from "preact/hooks";
import { TEXTS } from "../texts.ts";

/** A new secret, which is shown once. */
export function SecretShown({ title, secret, onClose }: {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return (
    <div class="notice good" role="status">
      <p>
        <strong>{title}</strong> {TEXTS.app.shownOnce}
      </p>
      <p class="secret">
        <code>{secret}</code>
      </p>
      <div class="actions">
        {globalThis.isSecureContext && (
          <button type="button" onClick={() => void copy().catch(() => setCopied(false))}>
            {isCopied ? TEXTS.app.copied : TEXTS.app.copy}
          </button>
        )}
        <button type="button" onClick={onClose}>{TEXTS.app.done}</button>
      </div>
    </div>
  );
}
