import { assert, assertEquals } from "@std/assert";
import { asUnwritableError, UnwritableError } from "../../src/platform/lib/process/unwritable.ts";

Deno.test("asUnwritableError() names the setting whose path cannot be used, and the reason, in one line", () => {
  for (
    const [error, reason] of [
      [
        Object.assign(new Error("Read-only file system (os error 30)"), { code: "EROFS" }),
        "the file system is read-only",
      ],
      [Object.assign(new Error("No space left"), { code: "ENOSPC" }), "the disk is full"],
      [new Deno.errors.PermissionDenied("Permission denied"), "permission denied"],
      [new Deno.errors.NotCapable("Requires write access"), "no permission to write there"],
    ] as const
  ) {
    const wrapped = asUnwritableError("store", "/data/store.db", error);
    assert(wrapped instanceof UnwritableError);
    assert(wrapped.message.startsWith('Cannot use "/data/store.db" (setting "store"): '), wrapped.message);
    assert(wrapped.message.includes(reason) && !wrapped.message.includes("\n"), wrapped.message);
  }
});

Deno.test("asUnwritableError() returns unrelated errors unchanged", () => {
  for (const error of [new Error("other"), new TypeError("other"), null, "text"]) {
    assertEquals(asUnwritableError("store", "/data", error), error);
  }
});
