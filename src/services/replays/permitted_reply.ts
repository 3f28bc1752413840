import type { Catalog } from "../../vendors/catalog/catalog.ts";
import {
  type CallerLimits,
  modelDenied,
  permitsEveryModel,
  permitsModel,
  permitsProvider,
  providersDenied,
} from "../../money/limits/permission.ts";

/** Header fields of a reply, by lower-case name. */
type ReplyFields = readonly (readonly [name: string, value: string])[];

/**
 * Checks that a caller may still use the model and the provider of a kept reply. Its key may have lost them since.
 *
 * @param fields Those of the reply, which name its model and provider.
 * @param limits Null for a caller without limits.
 * @param catalog All models.
 * @throws {GatewayError} `permission_denied`, with what is permitted.
 */
export function checkReplyPermitted(
  fields: ReplyFields,
  limits: CallerLimits | null,
  catalog: Pick<Catalog, "find">,
): void {
  if (limits === null || permitsEveryModel(limits)) return;
  const valueOf = (name: string) => fields.find(([each]) => each === name)?.[1] ?? "";
  const id = valueOf("x-service-model");
  const find = (name: string) => catalog.find(name);
  // A model that the catalog has no more is known by its id alone.
  const model = find(id) ?? { id, canonicalSlug: id };
  if (!permitsModel(limits, model, find)) throw modelDenied(limits, model, find);
  if (!permitsProvider(limits, valueOf("x-service-provider"))) throw providersDenied(limits, model);
}
