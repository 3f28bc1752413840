import { assertEquals } from "@std/assert";
import { namedFileId } from "../../src/services/stored_files/stored_file.ts";

const DIGITS = "0123456789abcdef0123456789ab";

Deno.test("a request names a file by its id in the form of any protocol, or by its address", () => {
  for (
    const named of [
      `file-${DIGITS}`,
      `file_${DIGITS}`,
      `files/${DIGITS}`,
      `files/file-${DIGITS}`,
      `https://gateway.example.com/gencompat/v1beta/files/${DIGITS}`,
    ]
  ) assertEquals(namedFileId(named), `file-${DIGITS}`, named);
});

Deno.test("ids of vendors and other addresses name no file of the gateway", () => {
  for (
    const other of [
      "file-abc",
      "file_011CNha8iCJcU1wXNR6q4V8w",
      DIGITS,
      `gs://bucket/files/${DIGITS}`,
      `https://example.com/?files/${DIGITS}`,
      `https://example.com/files/${DIGITS}/more`,
    ]
  ) assertEquals(namedFileId(other), null, other);
});
