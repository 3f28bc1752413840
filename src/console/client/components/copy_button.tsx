import { useState } from "preact/hooks";
import { TEXTS } from "../texts.ts";

/** A button that copies a text. Browsers allow it over TLS and on the own machine only. */
export function CopyButton({ text, title = TEXTS.app.copy }: {
  readonly text: () => string;
  /** Default: that of every copy. */
  readonly title?: string;
}) {
  const [isCopied, setCopied] = useState(false);
  if (!globalThis.isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <button type="button" class="small" onClick={() => void copy().catch(() => setCopied(false))}>
      {isCopied ? TEXTS.app.copied : title}
    </button>
  );
}
