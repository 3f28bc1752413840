import { useState } from "preact/hooks";
import { type ApiError, change } from "../../api.ts";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { ownAddress } from "../../own_address.ts";
import type { ListAnswer, VideoResult } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

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
  return <div class="media">{results.map((result) => <Result key={result.url} result={result} />)}</div>;
}

function Result({ result: { type, index, url } }: { readonly result: VideoResult }) {
  const own = ownAddress(url);
  const title = type === "video" ? TEXTS.videos.video(String(index + 1)) : TEXTS.videos.extras[type];
  return (
    <figure>
      {own !== null && (type === "video"
        ? <video src={own} controls preload="metadata" aria-label={title} />
        : <img src={own} alt={title} />)}
      <figcaption>
        <a href={url} target="_blank" rel="noreferrer">{title}</a>
      </figcaption>
    </figure>
  );
}
