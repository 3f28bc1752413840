import { useState } from "preact/hooks";
import { ownAddress } from "../../own_address.ts";
import type { VideoResult } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** Players and pictures of what a task made. Players show the thumbnail until they start. */
export function ShownResults({ results }: { readonly results: readonly VideoResult[] }) {
  const thumbnail = results.find(({ type }) => type === "thumbnail");
  const poster = thumbnail === undefined ? null : ownAddress(thumbnail.url);
  return (
    <div class="media">
      {results.map((result) => <Result key={keyOf(result)} result={result} poster={poster} />)}
    </div>
  );
}

/** Addresses are signed again by each read, which does not make them another result. */
function keyOf({ type, index, url }: VideoResult): string {
  return `${type} ${index} ${new URL(url).pathname}`;
}

function Result({ result: { type, index, url }, poster }: {
  readonly result: VideoResult;
  /** The address of the picture that a player shows first; null without one. */
  readonly poster: string | null;
}) {
  // A player starts again if its address changes.
  const [own] = useState(() => ownAddress(url));
  const [firstPoster] = useState(poster);
  const title = type === "video" ? TEXTS.videos.video(String(index + 1)) : TEXTS.videos.extras[type];
  return (
    <figure>
      {own !== null && (type === "video"
        ? <video src={own} poster={firstPoster ?? undefined} controls preload="metadata" aria-label={title} />
        : <img src={own} alt={title} />)}
      <figcaption>
        <a href={url} target="_blank" rel="noreferrer">{title}</a>
      </figcaption>
    </figure>
  );
}
