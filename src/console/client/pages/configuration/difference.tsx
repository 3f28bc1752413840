import type { ComponentChildren } from "preact";
import { Badge } from "../../components/badge.tsx";
import type { ConfigDifference } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** What a change of the configuration adds, removes and changes. */
export function Difference({ difference }: { readonly difference: ConfigDifference }) {
  const { added, removed, changed, restart, revoked_keys = [] } = difference;
  const names = (part: ConfigDifference["added"]) =>
    Object.entries(part).flatMap(([section, each]) => each.map((name) => `${section}.${name}`));
  const fields = Object.entries(changed).flatMap(([section, entries]) =>
    Object.entries(entries).flatMap(([name, values]) =>
      Object.entries(values).map(([field, values]) => ({ field: `${section}.${name}.${field}`, values }))
    )
  );
  const [addedNames, removedNames] = [names(added), names(removed)];
  const count = addedNames.length + removedNames.length + fields.length + restart.length + revoked_keys.length;
  if (count === 0) return <p class="hint">{TEXTS.configuration.noDifference}</p>;
  return (
    <ul class="difference">
      {addedNames.map((name) => <Line key={`+${name}`} tone="good" kind={TEXTS.configuration.added}>{name}</Line>)}
      {removedNames.map((name) => <Line key={`-${name}`} tone="bad" kind={TEXTS.configuration.removed}>{name}</Line>)}
      {fields.map(({ field, values }) => (
        <Line key={field} tone="warn" kind={TEXTS.configuration.changed}>
          {field} {values !== "changed" && (
            <>
              <del>{shown(values.before)}</del> → <ins>{shown(values.after)}</ins>
            </>
          )}
        </Line>
      ))}
      {restart.map((name) => <Line key={`r${name}`} tone="plain" kind={TEXTS.configuration.restart}>{name}</Line>)}
      {revoked_keys.map((key) => <Line key={key} tone="bad" kind={TEXTS.configuration.revokedKeys}>{key}</Line>)}
    </ul>
  );
}

function Line({ tone, kind, children }: {
  readonly tone: "good" | "bad" | "warn" | "plain";
  readonly kind: string;
  readonly children: ComponentChildren;
}) {
  return (
    <li>
      <Badge tone={tone}>{kind}</Badge> <code>{children}</code>
    </li>
  );
}

function shown(value: unknown): string {
  return value === null || value === undefined ? TEXTS.configuration.notSet : JSON.stringify(value);
}
