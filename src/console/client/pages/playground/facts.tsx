import { dollars, duration, number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { TEXTS } from "../../texts.ts";
import type { Exchange } from "./exchange.ts";
import type { ReplyUsage } from "./reply.ts";

/** What a request used, cost and took, and what the vendor did not get. */
export function Facts({ exchange, usage = null, cost = exchange.cost, stop = null, times = timesOf(exchange) }: {
  readonly exchange: Exchange;
  /** Default: none. */
  readonly usage?: ReplyUsage | null;
  /** US dollars. Default: those of the response's header. */
  readonly cost?: number | null;
  /** Why the answer ended. Default: not known. */
  readonly stop?: string | null;
  /** How long its parts took. Default: until the first byte, and in all. */
  readonly times?: readonly string[];
}) {
  const { totalMs, provider, dropped, requestId } = exchange;
  const texts = TEXTS.playground.facts;
  const facts = [
    usage === null ? null : texts.tokens(number(usage.input), number(usage.output)),
    usage === null || usage.cached === 0 ? null : texts.cached(number(usage.cached)),
    usage === null || usage.reasoning === 0 ? null : texts.reasoning(number(usage.reasoning)),
    cost === null ? null : dollars(cost),
    ...times,
    provider === null ? null : texts.servedBy(provider),
    stop === null ? null : texts.stop(stop),
  ];
  return (
    <ul class="reply-facts" aria-label={texts.label}>
      {facts.map((fact, place) => fact !== null && <li key={place}>{fact}</li>)}
      {dropped.length > 0 && <li class="dropped">{texts.dropped(dropped.join(", "))}</li>}
      {dropped.length === 0 && totalMs !== null && provider !== null && <li>{texts.nothingDropped}</li>}
      {requestId !== null && totalMs !== null && (
        <li>
          <a href={hrefOf(`requests/${requestId}`)}>
            {texts.request} <code>{requestId}</code>
          </a>
        </li>
      )}
    </ul>
  );
}

function timesOf({ firstByteMs, totalMs }: Exchange): string[] {
  const texts = TEXTS.playground.facts;
  return [
    ...firstByteMs === null ? [] : [texts.firstByte(duration(firstByteMs))],
    ...totalMs === null ? [] : [texts.total(duration(totalMs))],
  ];
}
