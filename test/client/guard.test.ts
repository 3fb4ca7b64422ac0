import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { RoutingDecision } from "../../client/src/api-types.ts";
import { fakeApp, WALLET_EIP55, walletSnapshot } from "../service/api/fake-ports.ts";
import { clientOf } from "./client-world.ts";

type Options = Parameters<ReturnType<typeof clientOf>["client"]["guard"]>[0];

/** A shop that pays whom the guard lets through, when the service knows this of the wallet. */
function shop(known: Parameters<typeof walletSnapshot>[0], options: Partial<Options> = {}, isDown = false) {
  const world = fakeApp({ scores: { snapshot: async () => walletSnapshot(known) } });
  const down = () => new Response("{}", { status: 503 });
  const { client } = clientOf(world, { retries: 0, ...(isDown ? { before: down } : {}) });
  const app = new Hono<{ Variables: { agentHealth: RoutingDecision | null } }>();
  // The test's caller is trusted; a real shop takes the wallet from what it verified.
  app.use(client.guard({ address: (context) => context.req.header("x-agent-address"), ...options }));
  app.post("/pay", (context) =>
    context.json({ paid: true, action: context.get("agentHealth")?.action ?? null }),
  );
  return app;
}

const ask = { method: "POST", headers: { "x-agent-address": WALLET_EIP55 } };
const graded = (grade: "A" | "C" | "F") => {
  const { score } = walletSnapshot();
  if (score === null) throw new Error("the standing of fake ports has a score");
  return { score: { ...score, grade } };
};

describe("guard", () => {
  it("lets a wallet through that settles at once", async () => {
    const response = await shop(graded("A")).request("/pay", ask);
    expect(await response.json()).toEqual({ paid: true, action: "instant_settle" });
  });

  it("stops a wallet that is rejected, by default with 403", async () => {
    expect((await shop(graded("F")).request("/pay", ask)).status).toBe(403);
    const onReject = (context: { json(body: unknown, status: 403): Response }) =>
      context.json({ reason: "ours" }, 403);
    const own = await shop(graded("F"), { onReject }).request("/pay", ask);
    expect(await own.json()).toEqual({ reason: "ours" });
  });

  it("marks an escrow, or answers what the integrator says", async () => {
    const marked = await shop(graded("C")).request("/pay", ask);
    expect(marked.headers.get("x-agent-health-action")).toBe("escrow");
    expect(await marked.json()).toEqual({ paid: true, action: "escrow" });
    const stopped = await shop(graded("C"), { onEscrow: (context) => context.json({}, 403) }).request(
      "/pay",
      ask,
    );
    expect(stopped.status).toBe(403);
  });

  it("asks about the amount of the payment, and marks what is too much for the wallet", async () => {
    const within = await shop(graded("A"), { amountUsd: () => 30.5 }).request("/pay", ask);
    expect(await within.json()).toEqual({ paid: true, action: "instant_settle" });
    const above = await shop(graded("A"), { amountUsd: () => "30.500001" }).request("/pay", ask);
    expect(above.headers.get("x-agent-health-action")).toBe("escrow");
    const stopped = shop(graded("A"), {
      amountUsd: () => 31,
      onEscrow: (context, { reason }) => context.json({ error: reason }, 403),
    });
    expect(await (await stopped.request("/pay", ask)).json()).toEqual({ error: "above_safe_amount" });
  });

  it.each([
    [undefined, "The request names no amount."],
    [-1, "The amount is no decimal of at most 6 decimals, or out of range."],
    [Number.NaN, "The amount is no decimal of at most 6 decimals, or out of range."],
    ["", "The amount is no decimal of at most 6 decimals, or out of range."],
  ])("refuses an amount of %j, whatever happens when the service is silent", async (amount, error) => {
    const open = shop(graded("A"), { amountUsd: () => amount, onUnavailable: () => undefined });
    const response = await open.request("/pay", ask);
    expect([response.status, await response.json()]).toEqual([400, { error }]);
  });

  it("stops while the service does not answer, unless the integrator decides otherwise", async () => {
    expect((await shop({}, {}, true).request("/pay", ask)).status).toBe(503);
    const open = await shop({}, { onUnavailable: () => undefined }, true).request("/pay", ask);
    expect(await open.json()).toEqual({ paid: true, action: null });
  });

  it.each(["0x12", "..", `${WALLET_EIP55}?x`, "%00", WALLET_EIP55.replace("D", "d")])(
    "refuses %s, which is no address, whatever happens when the service is silent",
    async (address) => {
      const open = shop({}, { onUnavailable: () => undefined });
      const response = await open.request("/pay", {
        method: "POST",
        headers: { "x-agent-address": address },
      });
      expect(response.status).toBe(400);
    },
  );

  it("refuses a request that names no wallet", async () => {
    expect((await shop({}).request("/pay", { method: "POST" })).status).toBe(400);
  });
});
