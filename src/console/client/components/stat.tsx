import type { ComponentChildren } from "preact";

/** A number with its name. */
export function Stat({ name, children, note }: {
  readonly name: string;
  readonly children: ComponentChildren;
  /** What the number is made of. Default: none. */
  readonly note?: ComponentChildren;
}) {
  return (
    <div class="stat">
      <dt>{name}</dt>
      <dd>
        <span class="stat-value">{children}</span>
        {note !== undefined && <span class="hint">{note}</span>}
      </dd>
    </div>
  );
}
