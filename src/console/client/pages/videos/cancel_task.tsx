import { ActionForm } from "../../components/action_form.tsx";
import { TEXTS } from "../../texts.ts";

/** A button that cancels a task when the question is confirmed. */
export function CancelTask({ question, cancel }: {
  readonly question: string;
  /** Rejects with an `ApiError` if the task cannot be cancelled. */
  readonly cancel: () => Promise<void>;
}) {
  const run = async () => {
    if (confirm(question)) await cancel();
  };
  return <ActionForm submit={TEXTS.videos.cancel} isDangerous onSubmit={run} />;
}
