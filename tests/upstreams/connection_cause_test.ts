import { assertEquals } from "@std/assert";
import { type ConnectionCause, connectionCauseOf } from "../../src/upstreams/connection_cause.ts";

/** What Deno 2.9 and the gateway's client report. A test of loopback cannot cause each. */
const REPORTS: readonly (readonly [message: string, cause: ConnectionCause])[] = [
  ["failed to lookup address information: Name or service not known", "unresolved"],
  ["failed to lookup address information: nodename nor servname provided, or not known", "unresolved"],
  ["Connection refused (os error 111)", "refused"],
  ["invalid peer certificate: Expired", "expired_certificate"],
  ["invalid peer certificate: certificate expired: verification time 1795 (UNIX)", "expired_certificate"],
  ["invalid peer certificate: NotValidForName", "other_name"],
  ['invalid peer certificate: certificate not valid for name "a"', "other_name"],
  ["invalid peer certificate: UnknownIssuer", "unknown_issuer"],
  ["invalid peer certificate: BadSignature", "certificate"],
  ["received corrupt message of type InvalidContentType", "tls"],
  ["Cannot connect: the connection timed out", "timed_out"],
  ["The proxy refused the connection to a.example with status 407", "proxy_credentials"],
  ["The proxy refused the connection to a.example with status 502", "proxy"],
  ["Connection reset by peer (os error 104)", "unknown"],
];

Deno.test("connectionCauseOf() reads the cause from the messages of an error and its causes", () => {
  for (const [message, cause] of REPORTS) {
    assertEquals(connectionCauseOf(new Error(message)), cause, message);
    const wrapped = new Error("Cannot connect", { cause: new Error("inner", { cause: new Error(message) }) });
    assertEquals(connectionCauseOf(wrapped), cause, message);
  }
  assertEquals(connectionCauseOf("no error"), "unknown");
});
