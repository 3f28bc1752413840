import { useState } from "preact/hooks";
import { Choice } from "../../components/choice.tsx";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { CopyButton } from "../../components/copy_button.tsx";
import { withShortData } from "./snippets/short_data.ts";
import { KEY_VARIABLE, type Language, LANGUAGES } from "./snippets/snippet.ts";

/** A request as a program, in the language that is chosen. */
export function CodeView({ snippet }: {
  /** Writes the program for a gateway at a public address. */
  readonly snippet: (language: Language, baseUrl: string) => string;
}) {
  const [language, setLanguage] = useState<Language>("curl");
  const text = snippet(language, session.value?.base_url ?? "");
  const shown = withShortData(text);
  return (
    <div class="panel">
      <div class="panel-head">
        <Choice
          label={TEXTS.playground.facts.language}
          values={LANGUAGES}
          titles={TEXTS.playground.facts.languages}
          value={language}
          onChange={setLanguage}
        />
        <CopyButton text={() => text} />
      </div>
      <pre tabIndex={0} aria-label={TEXTS.playground.facts.code}>{shown}</pre>
      <p class="hint">
        {TEXTS.playground.facts.keyHint(KEY_VARIABLE)} {shown !== text && TEXTS.playground.facts.shortened}
      </p>
    </div>
  );
}
