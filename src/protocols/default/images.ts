import type { Authenticate } from "../../money/billing/authenticate.ts";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { UploadFormLimits } from "../../services/calls/upload_form.ts";
import type { Catalog, DatedCatalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Spool } from "../../platform/files/spool.ts";
import type { BodyLimits } from "../../platform/http/bodies/body.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import type { Handler, Inbound, Route } from "../../platform/http/request/inbound.ts";
import { type MediaBodyThread, readMediaBody } from "../../platform/http/bodies/media_body.ts";
import { dryRunImages, type ImageDryRun } from "../../services/images/dry_run.ts";
import { readEdit } from "../../services/images/edit/edit.ts";
import { isEditBody, readEditBody } from "../../services/images/edit/edit_body.ts";
import { readEditForm } from "../../services/images/edit/edit_form.ts";
import { withFallbacks } from "../../services/images/fallbacks.ts";
import { readGeneration } from "../../services/images/generate.ts";
import type { ImageCalls } from "../../services/images/image_call.ts";
import type { ImageCaller, ImageRequest } from "../../services/images/request/image_request.ts";
import { readBodyPin } from "../../vendors/routing/pin.ts";
import { dryRunResponse, writeEstimatedCost } from "../dry_run_response.ts";
import { routesAt } from "../route_at.ts";
import { wholeCallerOf } from "../whole_call_parts.ts";

const encoder = new TextEncoder();

/** The dependencies of the image endpoints. */
export interface DefaultImageParts {
  readonly images: ImageCalls;
  readonly catalog: DatedCatalog;
  readonly authenticate: Authenticate;
  /** The limits of a generation's body. */
  readonly generationBody: BodyLimits;
  /** Reads large bodies. */
  readonly bodyThread: MediaBodyThread;
  readonly editForm: UploadFormLimits;
  /** Stores uploads. */
  readonly spool: Spool;
}

/** The members of requests that have images. */
const GENERATION_PLACES = { members: ["input_images"], isBase64: true };
const EDIT_PLACES = { members: ["images", "mask"], isBase64: true };

/** `POST /v1/images/generations` and `POST /v1/images/edits`. */
export function defaultImageRoutes(parts: DefaultImageParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createImages, generations(parts)),
    ...routesAt(ENDPOINTS.editImages, edits(parts)),
  ];
}

function generations(parts: DefaultImageParts): Handler {
  const { images, catalog: whole, authenticate, generationBody: limits, bodyThread: thread } = parts;
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const { accountId } = credential;
    const catalog = permittedCatalog(whole.at(inbound.receivedAt), credential.limits);
    const isTrial = isDryRun(inbound.request.headers);
    const options = { limits, places: GENERATION_PLACES, thread, accountId };
    const { body, bytes } = await readMediaBody(inbound, options);
    inbound.record.capture?.takeRequest(bytes);
    const read = (model?: string) => readGeneration(model === undefined ? body : { ...body, model }, catalog);
    const requests = await withFallbacks(read(), catalog, ({ id }) => read(id));
    return await carryOut(requests, askerOf(inbound, credential), images, isTrial);
  };
}

function edits(parts: DefaultImageParts): Handler {
  const { images, catalog: whole, authenticate, editForm, spool } = parts;
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const catalog = permittedCatalog(whole.at(inbound.receivedAt), credential.limits);
    const { headers } = inbound.request;
    const isTrial = isDryRun(headers);
    if (isEditBody(headers.get("content-type"))) {
      const requests = await readEditRequests(inbound, { ...parts, catalog, accountId: credential.accountId });
      return await carryOut(requests, askerOf(inbound, credential), images, isTrial);
    }
    const room = spool.openRequest();
    try {
      const form = await readEditForm(inbound, editForm, room);
      // As JSON, which can be read in the log. Pictures are left out, as their encodings are removed from bodies.
      inbound.record.capture?.takePart(encoder.encode(JSON.stringify(Object.fromEntries(form.fields))));
      const read = ({ id }: Model) => readEdit({ ...form, fields: new Map(form.fields).set("model", id) }, catalog);
      const requests = await withFallbacks(await readEdit(form, catalog), catalog, read);
      return await carryOut(requests, askerOf(inbound, credential), images, isTrial);
    } finally {
      // The vendor has read the uploads when its response starts.
      await room.clear();
    }
  };
}

interface EditBodyParts extends Pick<DefaultImageParts, "generationBody" | "bodyThread"> {
  readonly catalog: Catalog;
  readonly accountId: string;
}

/** Edits as JSON, which has addresses or base64 in place of uploads. */
async function readEditRequests(
  inbound: Inbound,
  { catalog, accountId, generationBody: limits, bodyThread: thread }: EditBodyParts,
): Promise<readonly ImageRequest[]> {
  const { body, bytes } = await readMediaBody(inbound, { limits, places: EDIT_PLACES, thread, accountId });
  inbound.record.capture?.takeRequest(bytes);
  const bodyPin = readBodyPin(body);
  const read = async (model?: string) => {
    const form = readEditBody(model === undefined ? body : { ...body, model });
    return { ...await readEdit(form, catalog), bodyPin };
  };
  return await withFallbacks(await read(), catalog, ({ id }) => read(id));
}

async function carryOut(
  requests: readonly ImageRequest[],
  asker: ImageCaller,
  images: ImageCalls,
  isTrial: boolean,
): Promise<Response> {
  return isTrial ? trialAnswer(await dryRunImages(requests, asker, images.parts)) : await images.run(requests, asker);
}

function trialAnswer({ request, providers, maxCost: most, admission }: ImageDryRun): Response {
  const { model: { id: model }, kind: mode, count: images, droppedFields: dropped } = request;
  const estimate = { images, ...writeEstimatedCost("image", most) };
  return dryRunResponse({ model, mode, providers, estimate, dropped, admission });
}

function askerOf(inbound: Inbound, credential: Credential): ImageCaller {
  const caller = wholeCallerOf(inbound, credential);
  return { ...caller, writeError: (error) => chat.caller.writeError(error, caller.requestId) };
}
