import { TEXTS } from "../../../texts.ts";
import type { Call } from "../conversation.ts";
import { parsedJson } from "../../../json.ts";

/** A call of a tool with its input. */
export function CallView({ call: { name, input } }: { readonly call: Call }) {
  const parsed = parsedJson(input);
  return (
    <div class="call">
      <span class="badge plain">{TEXTS.playground.chat.call(name)}</span>
      <pre tabIndex={0}>{parsed === null ? input : JSON.stringify(parsed, null, 2)}</pre>
    </div>
  );
}
