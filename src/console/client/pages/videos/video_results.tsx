import { useState } from "preact/hooks";
import { type ApiError, change } from "../../api.ts";
import { ErrorNotice } from "../../components/error_notice.tsx";
import type { ListAnswer, VideoResult } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { ShownResults } from "./shown_results.tsx";

/** What a task made. The addresses are read on demand, because the audit log records it. */
export function VideoResults({ address }: {
  /** Of the task in the admin API. */
  readonly address: string;
}) {
  const [results, setResults] = useState<readonly VideoResult[] | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const show = () => {
    setError(null);
    change<Pick<ListAnswer<VideoResult>, "data">>("POST", `${address}/results`)
      .then(({ data }) => setResults(data), setError);
  };
  if (results === null) {
    return (
      <>
        <p class="hint">{TEXTS.videos.resultsHint}</p>
        {error !== null && <ErrorNotice error={error} />}
        <button type="button" onClick={show}>{TEXTS.videos.showResults}</button>
      </>
    );
  }
  if (results.length === 0) return <p class="hint">{TEXTS.videos.noResults}</p>;
  return <ShownResults results={results} />;
}
