import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { walkRequest } from "../../../contract/request_walk.ts";
import { grammar } from "./grammar.ts";

/**
 * Rejects a request with one field in both spellings, at any depth, whatever the values. A vendor may use either of
 * them, so the checked value could differ from the used one. Skips the caller's own data, such as arguments and
 * schemas.
 * Source: protobuf, "ProtoJSON format": parsers accept `lowerCamelCase` and the original name.
 *
 * @throws {GatewayError} `invalid_request`, naming the second of the two.
 */
export function rejectDoubleSpellings(body: JsonObject): void {
  walkRequest(grammar, body, (member) => {
    const { key, name, owner } = member;
    if (key !== name && Object.hasOwn(owner, name)) {
      throw invalidField(member.path(), `expected only one spelling of the field, but "${name}" is also set`);
    }
  });
}
