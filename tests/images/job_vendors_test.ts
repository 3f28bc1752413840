import { assertEquals } from "@std/assert";
import { itemAt } from "../support/items.ts";
import { imageFile, imageModel, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

/**
 * A vendor like Black Forest Labs with these responses to orders, of which the last repeats, and to polls. After the
 * given polls the image is ready.
 */
function startVendor(orders: readonly (() => Response)[], polls: readonly (() => Response)[]) {
  const picture = imageFile();
  let [ordered, polled] = [0, 0];
  return startStubVendor(async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/picture.png") return new Response(await picture);
    if (request.method === "POST") return itemAt(orders, Math.min(ordered++, orders.length - 1))();
    const poll = polls[polled++];
    return poll?.() ?? Response.json({ status: "Ready", result: { sample: `${origin}/picture.png` } });
  });
}

const accepted = () => Response.json({ id: "job-1", polling_url: "https://elsewhere.example/" });
const fails = (status: number) => () => new Response("", { status });

async function generated(first: ReturnType<typeof startVendor>, second: ReturnType<typeof startVendor>) {
  const provider = (address: string) => ({ kind: "bfl", base_url: `${address}/v1`, api_key: "key" });
  const gateway = await startImageGateway({
    providers: { first: provider(first.address), second: provider(second.address) },
    models: [imageModel("job/painter", {}, [], {
      pricing: { per_image: "0.05" },
      serves: [{ provider: "first", model: "flux-2-pro" }, { provider: "second", model: "flux-2-pro", weight: 0 }],
    })],
  });
  try {
    const response = await gateway.post("/v1/images/generations", {
      model: "job/painter",
      prompt: "a fox",
      quality: "auto",
    });
    const served = response.headers.get("x-service-provider");
    await response.body?.cancel();
    const ordersAt = ({ requestedPaths: asked }: typeof first) =>
      asked.filter((path) => path === "/v1/flux-2-pro").length;
    return [response.status, served, ordersAt(first), ordersAt(second), await gateway.balance()];
  } finally {
    await gateway.stop();
  }
}

Deno.test("an image whose vendor fails a poll is ordered, charged and answered once", async () => {
  const html = () => new Response("<html>busy</html>");
  await using first = startVendor([accepted], [
    fails(500),
    fails(429),
    html,
    () => Response.json({ status: "Pending" }),
  ]);
  await using second = startVendor([accepted], []);
  assertEquals(await generated(first, second), [200, "first", 1, 0, "24.9500000000"]);
});

Deno.test("an image whose order was refused is ordered elsewhere", async () => {
  await using first = startVendor([fails(429)], []);
  await using second = startVendor([accepted], []);
  assertEquals(await generated(first, second), [200, "second", 1, 1, "24.9500000000"]);
});

Deno.test("an image whose job failed is ordered elsewhere, as nothing was made", async () => {
  await using first = startVendor([accepted], [() => Response.json({ status: "Error" })]);
  await using second = startVendor([accepted], []);
  assertEquals(await generated(first, second), [200, "second", 1, 1, "24.9500000000"]);
});

Deno.test("an image whose order may have started is ordered nowhere else, and costs nothing", async () => {
  await using first = startVendor([fails(500)], []);
  await using second = startVendor([accepted], []);
  assertEquals(await generated(first, second), [502, "first", 1, 0, "25.0000000000"]);
});

Deno.test("an image that the vendor's content rules block is ordered nowhere else, and costs nothing", async () => {
  await using first = startVendor([accepted], [() => Response.json({ status: "Content Moderated" })]);
  await using second = startVendor([accepted], []);
  assertEquals(await generated(first, second), [400, "first", 1, 0, "25.0000000000"]);
});
