import { change } from "../../api.ts";
import { ActionForm } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { dollars, number } from "../../format.ts";
import { usePolled } from "../../lists/polled.ts";
import { hrefOf } from "../../navigation.ts";
import { canWrite, isOwner } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { Fact } from "../videos/fact.tsx";
import { LineProgress } from "./line_progress.tsx";
import { BatchBadge } from "./batch_badge.tsx";
import { ALL_BATCHES, type BatchSource, hasBatchEnded, isRunning, type ShownBatch } from "./shown_batch.ts";

const REFRESH_MS = 2_000;

/** One batch: how far its lines are, what failed, and what it costs. */
export function BatchDetails({ id, source }: { readonly id: string; readonly source: BatchSource }) {
  const { batches: texts } = TEXTS;
  const { data: batch, error, reload } = usePolled(id, (signal) => source.read(id, signal), {
    everyMs: REFRESH_MS,
    isFinal: hasBatchEnded,
  });
  const isOperator = source === ALL_BATCHES;
  const cancel = async () => {
    if (!confirm(texts.confirmCancel)) return;
    await change("POST", `${source.path}/${encodeURIComponent(id)}/cancel`);
    reload();
  };
  return (
    <>
      <p class="back">
        <a href={hrefOf("batches")}>← {texts.back}</a>
      </p>
      <PageHead title={<code class="title-code">{isOperator ? id : batch?.caller_id ?? id}</code>}>
        {batch !== null && <BatchBadge status={batch.status} />}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {batch === null && error === null && <Loading />}
      {batch !== null && (
        <div class="grid">
          <Card title={texts.lines}>
            <LineProgress lines={batch.lines} />
            {isRunning(batch) && (!isOperator || canWrite()) && (
              <ActionForm submit={texts.cancel} isDangerous onSubmit={cancel} />
            )}
          </Card>
          <Money batch={batch} />
          <Facts batch={batch} />
          <Results batch={batch} mayRead={!isOperator || isOwner()} isAudited={isOperator} />
          {batch.failures.length > 0 && <Failures failures={batch.failures} />}
          {batch.errors.length > 0 && <Mistakes errors={batch.errors} />}
        </div>
      )}
    </>
  );
}

interface BatchProps {
  readonly batch: ShownBatch;
}

/** The cost so far next to the estimate. */
function Money({ batch: { estimate, cost, hold } }: BatchProps) {
  const { batches: texts } = TEXTS;
  return (
    <Card title={texts.money}>
      <dl class="facts">
        <Fact name={texts.cost}>{dollars(cost)}</Fact>
        <Fact name={texts.estimate}>{dollars(estimate)}</Fact>
        <Fact name={texts.hold}>{hold === null ? null : texts.holdText(dollars(hold.amount), hold.state)}</Fact>
      </dl>
    </Card>
  );
}

function Facts({ batch }: BatchProps) {
  const { batches: texts } = TEXTS;
  return (
    <Card title={texts.batch}>
      <dl class="facts">
        <Fact name={texts.account}>
          {batch.account === null
            ? null
            : <a href={hrefOf(`accounts/${encodeURIComponent(batch.account)}`)}>{batch.account}</a>}
        </Fact>
        <Fact name={texts.format}>{texts.formatText(texts.formats[batch.protocol], texts.inputs[batch.input])}</Fact>
        <Fact name={texts.callerId}>{batch.caller_id === batch.id ? null : <code>{batch.caller_id}</code>}</Fact>
        <Fact name={texts.endpoint}>{batch.endpoint}</Fact>
        <Fact name={texts.model}>{batch.model}</Fact>
        <Fact name={texts.mode}>{texts.modes[batch.mode]}</Fact>
        <Fact name={texts.created}>
          <Instant at={batch.created_at} />
        </Fact>
        <Fact name={texts.expires}>
          <Instant at={batch.expires_at} />
        </Fact>
        <Fact name={texts.ended}>{batch.ended_at === null ? null : <Instant at={batch.ended_at} />}</Fact>
      </dl>
    </Card>
  );
}

function Results({ batch: { id, output, failed }, mayRead, isAudited }: BatchProps & {
  readonly mayRead: boolean;
  readonly isAudited: boolean;
}) {
  const { batches: texts } = TEXTS;
  if (!mayRead || (output === null && failed === null)) return null;
  return (
    <Card title={texts.results}>
      {isAudited && <p class="hint">{texts.resultsHint}</p>}
      <p class="actions">
        {output !== null && <a class="button" href={output} download={`${id}_output.jsonl`}>{texts.download}</a>}{" "}
        {failed !== null && <a class="button" href={failed} download={`${id}_errors.jsonl`}>{texts.downloadFailed}</a>}
      </p>
    </Card>
  );
}

function Failures({ failures }: { readonly failures: ShownBatch["failures"] }) {
  const { batches: texts } = TEXTS;
  return (
    <Card title={texts.failures}>
      <DataTable
        label={texts.failures}
        rows={failures}
        keyOf={({ code }) => code}
        columns={[
          { title: texts.code, cell: ({ code }) => <code>{code}</code> },
          { title: texts.lines, isNumeric: true, cell: ({ count }) => number(count) },
        ]}
      />
    </Card>
  );
}

function Mistakes({ errors }: Pick<ShownBatch, "errors">) {
  const { batches: texts } = TEXTS;
  return (
    <Card title={texts.mistakes}>
      <DataTable
        label={texts.mistakes}
        rows={errors.map((error, place) => ({ ...error, place }))}
        keyOf={({ place }) => String(place)}
        columns={[
          { title: texts.line, isNumeric: true, cell: ({ line }) => line === null ? "" : number(line) },
          { title: texts.code, cell: ({ code }) => <code>{code}</code> },
          ...errors.some(({ message }) => message !== undefined)
            ? [{ title: texts.message, cell: ({ message = "" }: { readonly message?: string }) => message }]
            : [],
        ]}
      />
    </Card>
  );
}
