import { ErrorNotice } from "../../../components/error_notice.tsx";
import { TEXTS } from "../../../texts.ts";
import { CopyButton } from "../../../components/copy_button.tsx";
import { Facts } from "../facts.tsx";
import { Inspector } from "../inspector.tsx";
import { objectIn, parsedJson } from "../../../json.ts";
import { Markdown } from "../markdown.tsx";
import { dataUrl } from "../protocols/media.ts";
import { textSnippet } from "../protocols/text_snippet.ts";
import { CallView } from "./call_view.tsx";
import type { ReplyTurn } from "./pane.ts";

const texts = TEXTS.playground.chat;

/** An answer, what it took, and its request. */
export function ReplyView({ turn, onRetry }: {
  readonly turn: ReplyTurn;
  /** Requests another answer; null if it cannot be requested. */
  readonly onRetry: (() => void) | null;
}) {
  const { reader: { reply }, exchange, state, error, request } = turn;
  const isRunning = state === "running";
  return (
    <article aria-busy={isRunning}>
      <h3>{request.model}</h3>
      {reply.thinking !== "" && (
        <details class="thinking" open={isRunning || reply.text === ""}>
          <summary>{texts.thinkingText}</summary>
          <p>{reply.thinking}</p>
        </details>
      )}
      <Text turn={turn} />
      {reply.media.map((file, place) => <img key={place} class="picture" src={dataUrl(file)} alt={texts.picture} />)}
      {reply.calls.map((call, place) => <CallView key={place} call={call} />)}
      {isRunning && exchange.firstByteMs === null && <p class="hint">{texts.waiting}</p>}
      {state === "stopped" && <p class="hint">{texts.stopped}</p>}
      {error !== null && <ErrorNotice error={error} />}
      {reply.error !== null && (
        <ErrorNotice
          error={{ message: `${reply.error.code}: ${reply.error.message}`, requestId: exchange.requestId }}
        />
      )}
      {!isRunning && (
        <Facts exchange={exchange} usage={reply.usage} cost={reply.cost ?? exchange.cost} stop={reply.stop} />
      )}
      {!isRunning && (
        <Inspector
          exchange={exchange}
          snippet={(language, baseUrl) => textSnippet(language, request, baseUrl)}
        >
          {reply.text !== "" && <CopyButton text={() => reply.text} />}
          {onRetry !== null && <button type="button" class="small" onClick={onRetry}>{texts.retry}</button>}
        </Inspector>
      )}
    </article>
  );
}

/** An answer by a schema is shown as JSON, any other as Markdown. */
function Text({ turn: { reader: { reply: { text } }, request: { body } } }: { readonly turn: ReplyTurn }) {
  if (text === "") return null;
  const { response_format, text: settings, output_config, generationConfig } = body;
  const formats = [response_format, settings, output_config, objectIn(generationConfig).responseJsonSchema];
  const parsed = formats.some((format) => format !== undefined) ? parsedJson(text) : null;
  if (parsed === null) return <Markdown text={text} />;
  return <pre tabIndex={0} class="answer-json">{JSON.stringify(parsed, null, 2)}</pre>;
}
