import { assertEquals } from "@std/assert";
import { GatewayError } from "../../../src/platform/lib/basics/gateway_error.ts";
import { renderVideoError } from "../../../src/protocols/default/videos/video_error.ts";

type Case = readonly [error: GatewayError, status: number, body: Record<string, unknown>];

const CASES: readonly Case[] = [
  [new GatewayError("not_found", "No"), 404, { code: "not_found", message: "No" }],
  [new GatewayError("invalid_request", "No", { finerCode: "cancel_failed" }), 400, {
    code: "cancel_failed",
    message: "No",
  }],
  [new GatewayError("invalid_provider_type", "No"), 400, {
    code: "invalid_provider_type",
    message: "No",
    type: "invalid_provider_type",
  }],
  [new GatewayError("upstream_timeout", "No"), 502, { code: "upstream_error", message: "No" }],
  [new GatewayError("internal_error", "No"), 500, { code: "internal_error", message: "No" }],
];

for (const [error, status, body] of CASES) {
  Deno.test(`renderVideoError() writes ${error.details.finerCode ?? error.code} as ${status} with ${Object.keys(body)}`, async () => {
    const answer = renderVideoError(error, "req_1");
    assertEquals([answer.status, await answer.json()], [status, { error: body }]);
  });
}
