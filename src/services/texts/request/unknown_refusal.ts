import { refusedFieldOf } from "../../../conversation/facts/refused_fields.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { factsAt } from "../plan/served_endpoints.ts";

/**
 * Counts and logs a vendor's 400 that names a field: the facts of the model let it pass. The line has an entry for the
 * configuration where a fact keeps the field from the model. The vendor's sentence can repeat the input, and is left
 * out.
 */
export function noteUnknownRefusal(error: UpstreamFailure, attempt: TextAttempt, log: Log): void {
  if (error.facts.status !== 400) return;
  const { request, provider, candidate, model } = attempt;
  const facts = factsAt({ provider, model, name: candidate.model });
  const field = refusedFieldOf(error.facts.field ?? "", request.body, facts);
  if (field === null) return;
  const { record } = request;
  record.refusedFields = [...record.refusedFields, { model: model.id, field: field.path }];
  const entry = `providers: { ${provider.name}: { facts: { ${JSON.stringify(candidate.model)}: { ${field.fact} } } } }`;
  log.warn("unknown_refusal", {
    requestId: request.requestId,
    provider: provider.name,
    model: candidate.model,
    field: field.path,
    setting: field.fact === null ? undefined : entry,
  });
}
