import { useEffect, useState } from "preact/hooks";
import { duration } from "../format.ts";
import { awaySince } from "../reach.ts";
import { openSession } from "../session.ts";
import { TEXTS } from "../texts.ts";

const RETRY_MS = 2_000;
const SECOND_MS = 1_000;

/** Says that the gateway does not answer, and how old what is shown is. Tries again until it answers. */
export function AwayNotice() {
  const since = awaySince.value;
  return since === null ? null : <Away since={since} />;
}

function Away({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), SECOND_MS);
    // The session is read, because it may have ended meanwhile. A failure is the silence that is shown.
    const retry = setInterval(() => void openSession().catch(() => {}), RETRY_MS);
    return () => {
      clearInterval(clock);
      clearInterval(retry);
    };
  }, []);
  return (
    <p class="notice away" role="status">
      <strong>{TEXTS.app.unreachable}.</strong>{" "}
      {TEXTS.app.shownAge(duration(Math.max(0, Math.floor((now - since) / SECOND_MS)) * SECOND_MS))}
    </p>
  );
}
