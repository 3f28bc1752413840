import type { Authenticate } from "../../billing/authenticate.ts";
import type { Credential } from "../../billing/key_ring.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Model } from "../../catalog/model.ts";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import type { Spool } from "../../files/spool.ts";
import type { BodyLimits } from "../../http/body.ts";
import type { Handler, Inbound, Route } from "../../http/inbound.ts";
import { readJsonObject } from "../../http/json_body.ts";
import { readEdit } from "../../images/edit.ts";
import { type EditFormLimits, readEditForm } from "../../images/edit_form.ts";
import { withFallbacks } from "../../images/fallbacks.ts";
import { readGeneration } from "../../images/generate.ts";
import type { ImageCalls } from "../../images/image_call.ts";
import type { ImageAsker } from "../../images/image_request.ts";
import { readHeaderPin } from "../../routing/pin.ts";
import { renderDefaultError as renderError } from "./error.ts";

/** What the image endpoints are made with. */
export interface DefaultImageParts {
  readonly images: ImageCalls;
  readonly catalog: Catalog;
  readonly authenticate: Authenticate;
  /** Of a generation's body. */
  readonly generationBody: BodyLimits;
  readonly editForm: EditFormLimits;
  /** Where uploads wait. */
  readonly spool: Spool;
}

/** `POST /v1/images/generations` and `POST /v1/images/edits`. */
export function defaultImageRoutes(parts: DefaultImageParts): Route[] {
  return [
    { method: "POST", path: "/v1/images/generations", handler: generations(parts), renderError },
    { method: "POST", path: "/v1/images/edits", handler: edits(parts), renderError },
  ];
}

function generations({ images, catalog, authenticate, generationBody }: DefaultImageParts): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const { body } = await readJsonObject(inbound, generationBody);
    const read = (model?: string) => readGeneration(model === undefined ? body : { ...body, model }, catalog);
    const requests = await withFallbacks(read(), catalog, ({ id }) => read(id));
    return await images.run(requests, askerOf(inbound, credential));
  };
}

function edits({ images, catalog, authenticate, editForm, spool }: DefaultImageParts): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const room = spool.room();
    try {
      const form = await readEditForm(inbound, editForm, room);
      const read = ({ id }: Model) => readEdit({ ...form, fields: new Map(form.fields).set("model", id) }, catalog);
      const requests = await withFallbacks(await readEdit(form, catalog), catalog, read);
      return await images.run(requests, askerOf(inbound, credential));
    } finally {
      // The vendor has read the uploads when its answer begins.
      await room.clear();
    }
  };
}

function askerOf(inbound: Inbound, { accountId }: Credential): ImageAsker {
  const { requestId, receivedAt, request, memory } = inbound;
  return {
    requestId,
    accountId,
    receivedAt,
    headerPin: readHeaderPin(request.headers),
    callerSignal: () => request.signal,
    memory,
    writeError: (error) => chat.caller.writeError(error, requestId),
  };
}
