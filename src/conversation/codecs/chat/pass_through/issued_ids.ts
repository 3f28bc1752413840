import { hasQuoted } from "../../../../platform/lib/text/word_search.ts";
import { idOfKind } from "../../../contract/issued_ids.ts";
import type { IssuedIdReader } from "../../../contract/pass_through.ts";
import { isObject, objectOf, objectsOf } from "../../../neutral/wire_value.ts";

/** Ids in replies of this format: those of audio output. Source: Chat Completions API reference. */
export const issuedIds: IssuedIdReader = {
  mayIssue: (text) => hasQuoted(text, 'audio"'),
  issuedIn(value) {
    if (!isObject(value)) return [];
    return objectsOf(value.choices).flatMap(({ message, delta }) =>
      idOfKind("audio", objectOf(objectOf(message)?.audio ?? objectOf(delta)?.audio)?.id)
    );
  },
};
