import { assertEquals } from "@std/assert";
import { readRefusal } from "../../../src/vendors/upstreams/bedrock/refusal.ts";

function refusalOf(code: string | null, message: string) {
  const fieldOf = (name: string) =>
    name === "x-amzn-errortype" && code !== null ? `${code}:http://internal.amazon.com/coral/com.amazon/` : null;
  return readRefusal({ message }, fieldOf);
}

Deno.test("bedrock: the code of an error is in a header field, and decides where the status misleads", () => {
  const kindOf = (code: string, message = "No") => refusalOf(code, message).kind;
  for (const code of ["UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException"]) {
    assertEquals([refusalOf(code, "No").code, kindOf(code)], [code, "auth"]);
  }
  assertEquals(
    kindOf("AccessDeniedException", "Authentication failed: Please make sure your API Key is valid."),
    "auth",
  );
  assertEquals(
    kindOf("AccessDeniedException", "You don't have access to the model with the specified model ID."),
    undefined,
  );
  assertEquals(kindOf("ServiceQuotaExceededException"), "rate_limited");
  assertEquals(kindOf("ModelErrorException"), "unavailable");
  assertEquals(kindOf("ModelNotReadyException"), "unavailable");
  assertEquals([kindOf("ThrottlingException"), kindOf("ValidationException")], [undefined, undefined]);
  assertEquals(refusalOf(null, "No").code, null);
  assertEquals(
    refusalOf("ValidationException", "Input is too long for requested model.").code,
    "context_length_exceeded",
  );
});

Deno.test("bedrock: neither what was signed nor an identity of the account is in a message", () => {
  const { message } = refusalOf(
    "InvalidSignatureException",
    "The signature does not match.\n\nThe Canonical String was\nx-amz-security-token:secret",
  );
  assertEquals(message, "The signature does not match.");
  assertEquals(
    refusalOf("AccessDeniedException", "User: arn:aws:sts::123456789012:assumed-role/a/b is not authorized").message,
    "User: [redacted] is not authorized",
  );
});
