import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { walkRequest } from "../../../request_walk.ts";
import { grammar } from "./grammar.ts";

/**
 * Refuses a request that holds one field in both spellings, at any depth and whatever the values. A vendor may take
 * either, so that what was checked could differ from what is carried out. What callers write for their own use, such as
 * arguments and schemas, is not looked at.
 * Source: protobuf, "ProtoJSON format": parsers accept `lowerCamelCase` and the original name.
 *
 * @throws {GatewayError} `invalid_request`, naming the second of the two.
 */
export function refuseDoubleSpellings(body: JsonObject): void {
  walkRequest(grammar, body, (member) => {
    const { key, name, owner } = member;
    if (key !== name && Object.hasOwn(owner, name)) {
      throw invalidField(member.path(), `expected one spelling of the field, got "${name}" as well`);
    }
  });
}
