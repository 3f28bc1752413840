import { useEffect, useState } from "preact/hooks";
import { Card } from "../../components/card.tsx";
import { TEXTS } from "../../texts.ts";
import { type Meaning, meaningsOf } from "./meanings.ts";

/** As many settings are shown without a click. */
const MAX_OPEN = 12;

/** What the settings of an entry mean. The texts are loaded with the first entry that is opened. */
export function SettingMeaning({ section, name }: { readonly section: string; readonly name: string }) {
  const [meanings, setMeanings] = useState<readonly Meaning[]>([]);
  useEffect(() => {
    let isShown = true;
    import("./meanings.json", { with: { type: "json" } }).then(({ default: all }) => {
      if (isShown) setMeanings(meaningsOf(all, section, name));
    }, () => {});
    return () => void (isShown = false);
  }, [section, name]);
  const [first] = meanings;
  if (first === undefined) return null;
  const list = (
    <dl class="facts">
      {meanings.map(({ name: setting, text }) => [
        <dt key={setting}>
          <code>{setting}</code>
        </dt>,
        <dd key={`${setting}:`}>{text}</dd>,
      ])}
    </dl>
  );
  return (
    <Card title={TEXTS.configuration.meaning} isWide>
      {meanings.length === 1 && first.name === ""
        ? <p>{first.text}</p>
        : meanings.length <= MAX_OPEN
        ? list
        : (
          <details class="further">
            <summary>{TEXTS.configuration.meanings(String(meanings.length))}</summary>
            {list}
          </details>
        )}
    </Card>
  );
}
