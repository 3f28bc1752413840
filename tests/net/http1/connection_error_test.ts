import { assertEquals } from "@std/assert";
import { connectionCauseOf, ConnectionError } from "../../../src/platform/net/http1/connection_error.ts";

/** Messages of Deno 2.9 on Linux and of rustls. */
const MESSAGES = {
  "failed to lookup address information: Name or service not known": "unresolved",
  "failed to lookup address information: Temporary failure in name resolution": "unresolved",
  "invalid peer certificate: UnknownIssuer": "certificate_untrusted",
  "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))": "certificate_untrusted",
  "invalid peer certificate: certificate expired: verification time 1795919289 (UNIX), but certificate is not valid after 1609459200 (186460089 seconds ago)":
    "certificate_expired",
  'invalid peer certificate: certificate not valid for name "expired.lookup.example"; certificate is only valid for IpAddress(127.0.0.1)':
    "certificate_name",
  "invalid peer certificate: BadSignature": "certificate",
  "received corrupt message of type InvalidContentType": "tls",
  "received fatal alert: ProtocolVersion": "tls",
  "Connection refused (os error 111)": "refused",
  "Network is unreachable (os error 101)": "no_route",
  "No route to host (os error 113)": "no_route",
  "Connection timed out (os error 110)": "timeout",
  "Something new": null,
};

Deno.test("connectionCauseOf() reads the platform's messages", () => {
  for (const [message, cause] of Object.entries(MESSAGES)) {
    assertEquals(connectionCauseOf(new Error(message)), cause, message);
    const wrapped = new ConnectionError("Cannot connect", "connect", "unsent", new Error(message));
    assertEquals(connectionCauseOf(wrapped), cause, message);
  }
});

Deno.test("connectionCauseOf() reads the gateway's own errors, whatever the host is called", () => {
  const causeOf = (message: string) => connectionCauseOf(new ConnectionError(message, "connect", "unsent"));
  assertEquals(causeOf("The proxy refused the connection to tls.lookup.example with status 403"), "proxy");
  assertEquals(causeOf("The proxy refused the connection to proxy-407.example with status 407"), "proxy_credentials");
  assertEquals(causeOf("The proxy refused the connection to proxy-407.example with status 502"), "proxy");
  assertEquals(causeOf("Cannot connect: the connection timed out"), "timeout");
  assertEquals(connectionCauseOf(null), null);
});
