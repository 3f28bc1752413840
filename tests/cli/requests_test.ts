import { assertEquals, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { makePlace } from "./gateway_folder.ts";

Deno.test("requests list filters by text, show prints one, and tail prints those that end later", async () => {
  const place = await makePlace();
  const gateway = await place.serve();
  try {
    for (const model of ["acme/first", "acme/second"]) await place.create(gateway.address, { model });
    const listed = await place.run("requests", "list", "--q", "acme/SECOND", "--json");
    const found = listed.said.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals(found.map(({ model, status }) => [model, status]), [["acme/second", 404]], listed.complaint);
    const shown = JSON.parse((await place.run("requests", "show", found[0].id)).said);
    assertStringIncludes(shown.error.message, "acme/second");
    assertEquals((await place.run("requests", "list", "--q", found[0].id, "--json")).said, listed.said);

    const ranged = await place.run("requests", "list", "--max-attempts", "0", "--method", "post", "--q", "acme/SECOND");
    assertStringIncludes(ranged.said, found[0].id);
    assertEquals((await place.run("requests", "list", "--min-attempts", "1")).said, "");
    assertEquals((await place.run("requests", "list", "--refusal-limit", "budget")).said, "");

    const args = ["requests", "tail", "--status", "404", "--json", "--config", place.path];
    const tail = startGatewayProcess({ args, folder: dirname(place.path) });
    await tail.until(/acme\/second/);
    await place.create(gateway.address, { model: "acme/third" });
    await tail.until(/acme\/third/);
    tail.kill("SIGTERM");
    await tail.ended;
    const models = tail.output().trim().split("\n").map((line) => JSON.parse(line).model);
    assertEquals(models, ["acme/first", "acme/second", "acme/third"]);
  } finally {
    await gateway.stop();
    await place.remove();
  }
});
