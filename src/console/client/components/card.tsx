import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A part of a page with a heading. */
export function Card({ title, actions, children, isWide = false }: {
  readonly title: string;
  /** Beside the heading. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Whether it takes all columns. Default: false. */
  readonly isWide?: boolean;
}) {
  const id = useId();
  return (
    <section class={isWide ? "card wide" : "card"} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
