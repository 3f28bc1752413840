import { useState } from "preact/hooks";
import { type ApiError, read } from "../../api.ts";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { TEXTS } from "../../texts.ts";

interface BodiesAnswer {
  readonly request: string | null;
  readonly response: string | null;
  readonly is_cut: boolean;
}

/** The captured bodies of a request. They are read only on demand, because the audit log records it. */
export function Bodies({ id, areKept, onRead }: {
  readonly id: string;
  readonly areKept: boolean;
  /** Gets the body of the request; null if it was not kept. */
  readonly onRead: (request: string | null) => void;
}) {
  const [bodies, setBodies] = useState<BodiesAnswer | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const show = () => {
    setError(null);
    read<BodiesAnswer>(`/admin/v1/requests/${encodeURIComponent(id)}/bodies`).then((read) => {
      setBodies(read);
      onRead(read.request);
    }, setError);
  };
  if (!areKept) return <p class="hint">{TEXTS.requests.bodiesNotKept}</p>;
  if (bodies === null) {
    return (
      <>
        <p class="hint">{TEXTS.requests.bodiesHint}</p>
        {error !== null && <ErrorNotice error={error} />}
        <button type="button" onClick={show}>{TEXTS.requests.showBodies}</button>
      </>
    );
  }
  return (
    <>
      {bodies.is_cut && <p class="hint">{TEXTS.requests.bodyCut}</p>}
      <h3>{TEXTS.requests.requestBody}</h3>
      <pre tabIndex={0}>{bodies.request ?? TEXTS.requests.noBody}</pre>
      <h3>{TEXTS.requests.responseBody}</h3>
      <pre tabIndex={0}>{bodies.response ?? TEXTS.requests.noBody}</pre>
    </>
  );
}
