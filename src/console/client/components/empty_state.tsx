import type { ComponentChildren } from "preact";

/** Stands for a list without entries: why it is empty, and what to do next. */
export function EmptyState({ title, children }: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <div>{children}</div>
    </div>
  );
}
