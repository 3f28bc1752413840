import { assertEquals } from "@std/assert";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { content } from "../../src/conversation/codecs/content/mod.ts";
import { isCredentialRejected } from "../../src/vendors/upstreams/call/rejected_credential.ts";

const google = (message: string, reason?: string) => ({
  error: { code: 403, message, status: "PERMISSION_DENIED", details: reason === undefined ? [] : [{ reason }] },
});
const openai = (message: string, code: string | null = null) => ({ error: { message, type: "x", code, param: null } });

for (
  const [what, status, body, expected] of [
    ["Google's bad key", 400, google("API key not valid. Please pass a valid API key.", "API_KEY_INVALID"), true],
    ["Google's bad key in a list", 400, [google("API key not valid.", "API_KEY_INVALID")], true],
    ["Google's leaked key", 403, google("Your API key was reported as leaked. Please use another API key."), true],
    ["Google's blocked key", 403, google("Requests are blocked.", "API_KEY_SERVICE_BLOCKED"), true],
    [
      "Google's file of another",
      403,
      google("You do not have permission to access the File abc or it may not exist."),
      false,
    ],
    ["Google's location", 400, google("User location is not supported for the API use."), false],
    ["the reason as a caller's word", 400, google('Invalid role: "API_KEY_INVALID"'), false],
    [
      "xAI's bad key",
      400,
      { code: "Client specified an invalid argument", error: "Incorrect API key provided: xa***" },
      true,
    ],
    ["xAI's words repeated", 400, openai('Invalid value: "Incorrect API key provided"'), false],
    [
      "Anthropic's permission",
      403,
      openai("Your API key does not have permission to use the specified resource"),
      false,
    ],
    [
      "OpenAI's region",
      403,
      openai("Country, region, or territory not supported", "unsupported_country_region_territory"),
      false,
    ],
    ["OpenAI's model", 403, openai("Project `proj` does not have access to model `m`", "model_not_found"), false],
    ["a deactivated key", 403, openai("This API key has been deactivated"), true],
    ["Anthropic's organization", 403, openai("This organization has been disabled."), true],
    ["xAI's team", 403, openai("Your team is blocked, contact support"), true],
    ["a project without access", 403, openai("Your project is not permitted to use this model"), false],
    ["moderation", 403, openai("Your input was flagged"), false],
    ["a page of a firewall", 403, "<html>Forbidden</html>", false],
    ["an ordinary refusal", 400, openai("Unknown parameter"), false],
    ["nothing", 403, null, false],
    ["another status", 404, google("Gone", "API_KEY_INVALID"), false],
  ] as const
) {
  Deno.test(`blamesCredential() is ${expected} for ${what}`, () => {
    for (const { upstream: { readError } } of [chat, content]) {
      assertEquals(isCredentialRejected(status, body, readError(body)), expected);
    }
  });
}
