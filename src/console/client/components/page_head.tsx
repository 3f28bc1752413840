import type { ComponentChildren } from "preact";

/** The heading of a page. */
export function PageHead({ title, children }: {
  readonly title: ComponentChildren;
  /** Controls beside it. Default: none. */
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <h1>{title}</h1>
      {children}
    </div>
  );
}
