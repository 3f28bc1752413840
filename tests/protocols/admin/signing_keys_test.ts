import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { itemAt } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

Deno.test("a rotation of signing keys applies at once: old URLs stay valid for one more, new reads use the new key", async () => {
  const folder = await Deno.makeTempDir();
  const store = `kv:${folder}/store.db`;
  const gateway = await startVideoGateway({ store });
  const { call } = gateway;
  const statusOf = async (address: string) => (await call("HEAD", address)).status;
  const rotate = async () => {
    const authorization = `Bearer ${gateway.adminKey}`;
    const { status, json } = await call("POST", "/admin/v1/signing-keys/rotate", {}, { authorization });
    assertEquals(status, 200);
    return json;
  };
  const id = await gateway.create();
  const first = itemAt((await gateway.until(id, "completed")).mirror_urls as string[], 0);
  assertEquals(await statusOf(first), 200);

  const one = await rotate();
  assertEquals([one.verifies.length, one.verifies[0], one.dropped], [2, one.signs, []]);
  assertEquals(await statusOf(first), 200);
  const [second] = (await call("GET", `/v1/videos/${id}`)).json.mirror_urls;
  assertNotEquals(second.split("signature=")[1], first.split("signature=")[1]);
  assertEquals(await statusOf(second), 200);

  const two = await rotate();
  assertEquals([two.verifies[1], two.dropped], [one.signs, [one.verifies[1]]]);
  assertEquals([await statusOf(first), await statusOf(second)], [403, 200]);

  const both = await Promise.all([rotate(), rotate()]);
  assertEquals(both[1].verifies, [both[1].signs, both[0].signs], "of two at once one comes after the other");
  assert(!JSON.stringify(both).includes("secret"));
  await gateway.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("rotated signing keys are in force after a restart", async () => {
  const folder = await Deno.makeTempDir();
  const store = `kv:${folder}/store.db`;
  const rotateAt = async (gateway: Awaited<ReturnType<typeof startVideoGateway>>) => {
    const authorization = `Bearer ${gateway.adminKey}`;
    return (await gateway.call("POST", "/admin/v1/signing-keys/rotate", undefined, { authorization })).json;
  };
  const before = await startVideoGateway({ store });
  const { signs } = await rotateAt(before);
  await before.stop();
  const after = await startVideoGateway({ store });
  assertEquals((await rotateAt(after)).verifies[1], signs);
  await after.stop();
  await Deno.remove(folder, { recursive: true });
});
