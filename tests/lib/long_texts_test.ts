import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { codingFor } from "../../src/console/assets.ts";
import { opaqueUserId } from "../../src/conversation/codecs/messages/shared/fields.ts";
import { comparableName } from "../../src/conversation/models/families/fact_entry.ts";
import { hasTag } from "../../src/platform/http/request/headers.ts";
import { boundaryOf } from "../../src/platform/http/bodies/multipart_head.ts";

/** A pattern that reads the rest of such a text again for each letter takes minutes. */
const LONG = 400_000;
const repeated = (part: string) => part.repeat(LONG / part.length);

Deno.test("texts of callers are read once, however long they are", () => {
  for (const between of [" ", "\t", "; ", "a "]) {
    assertThrows(() => boundaryOf(`multipart/form-data${repeated(between)}"`));
    codingFor(`br${repeated(between)}x`);
    hasTag(`"a"${repeated(between)}x`, '"b"');
  }
  for (const part of ["a", "@", "a@", "a@a", "1 ", "."]) opaqueUserId(repeated(part));
  for (const part of [":", "-v1", "-v1:", "/:", "claude-"]) comparableName(`${repeated(part)}/`);
});

Deno.test("opaqueUserId() hides what the vendor takes for a person, and nothing else", () => {
  const personal = /[^\s@]+@[^\s@]+\.[^\s@]|^\+?[\d\s().-]{7,}$/;
  const users = fc.array(fc.constantFrom("a", "@", ".", " ", "1", "+", "(", "-", "a@b.c")).map((parts) =>
    parts.join("")
  );
  fc.assert(fc.property(users, (user) => {
    assertEquals(opaqueUserId(user) === user, !personal.test(user), user);
  }));
});
