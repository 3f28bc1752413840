import { ErrorNotice } from "../../../components/error_notice.tsx";
import { Loading } from "../../../components/loading.tsx";
import { TEXTS } from "../../../texts.ts";
import type { Media } from "../conversation.ts";
import { Facts } from "../facts.tsx";
import { Inspector } from "../inspector.tsx";
import { dataUrl } from "../protocols/media.ts";
import { imageSnippet } from "./picture_snippet.ts";
import type { ImageUse } from "./picture_request.ts";
import type { ImageRun } from "./picture_state.ts";

const texts = TEXTS.playground.pictures;

/** The pictures of a request, and what it took. */
export function ImageRunView({ run, onUse }: {
  readonly run: ImageRun;
  /** Takes a picture for the next request. */
  readonly onUse: (picture: Media, use: ImageUse) => void;
}) {
  const { request, prompt, exchange, state, answer, error } = run;
  return (
    <section class="card run" aria-label={prompt} aria-busy={state === "running"}>
      <h2>{String(request.fields.model)}</h2>
      <p class="run-prompt">{prompt}</p>
      {state === "running" && <Loading />}
      {state === "stopped" && <p class="hint">{TEXTS.playground.chat.stopped}</p>}
      {error !== null && <ErrorNotice error={error} />}
      {answer !== null && (
        <ul class="pictures">
          {answer.pictures.map((picture) => (
            <li key={picture.name}>
              <img class="picture" src={dataUrl(picture)} alt={prompt} />
              <div class="actions">
                <a class="button small" href={dataUrl(picture)} download={picture.name}>{texts.download}</a>
                <button type="button" class="small" onClick={() => onUse(picture, "edit")}>{texts.edit}</button>
                <button type="button" class="small" onClick={() => onUse(picture, "reference")}>
                  {texts.asReference}
                </button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {state !== "running" && (
        <>
          <Facts exchange={exchange} usage={answer?.usage ?? null} />
          <Inspector
            exchange={exchange}
            snippet={(language, baseUrl) => imageSnippet(language, request, baseUrl)}
          />
          {request.files.length > 0 && (
            <p class="hint">{texts.filesHint(request.files.map(({ name }) => name).join(", "))}</p>
          )}
        </>
      )}
    </section>
  );
}
