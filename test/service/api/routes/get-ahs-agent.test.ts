import { describe, expect, it } from "vitest";
import {
  bodyOf,
  fakeAgentFinder,
  fakeApp,
  fakeLedger,
  REGISTRY,
  WALLET,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";

const OTHER = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";
const path = (registry: string, agentId: string | number = 142) => `/ahs/agent/${registry}/${agentId}`;

describe("GET /ahs/agent/{registry}/{agent_id}", () => {
  it.each([
    REGISTRY,
    REGISTRY.toLowerCase(),
    `eip155:31337:${REGISTRY}`,
    encodeURIComponent(`eip155:31337:${REGISTRY}`),
  ])(
    "answers for %s what its wallet's address answers, for the same price, and names the agent",
    async (registry) => {
      const { app, keys } = fakeApp();
      const options = "?include=features,history";
      const answer = await app.request(`${path(registry, "0142")}${options}`, WITH_KEY);
      const record = await bodyOf<object>(await app.request(`/ahs/${WALLET}${options}`, WITH_KEY));
      expect([answer.status, keys.balance()]).toEqual([200, 5000 - 2 * 1000]);
      expect(await answer.json()).toEqual({
        ...record,
        agent: {
          agent_id: "142",
          registry: { name: "ERC-8004 identity registry", address: REGISTRY },
          name: "keeper",
        },
      });
      expect(record).not.toHaveProperty("agent");
    },
  );

  it.each([
    ["a registry that is not followed", path(OTHER), "registry-not-followed", `It follows ${REGISTRY}.`],
    [
      "the registry of another chain",
      path(`eip155:1:${REGISTRY}`),
      "registry-not-followed",
      `the registry eip155:1:${REGISTRY}.`,
    ],
    ["an agent that is unknown", path(REGISTRY, 143), "agent-unknown", `Agent 143 of registry ${REGISTRY}`],
  ])("refuses %s, uncharged", async (_, asked, code, words) => {
    const { app, keys, read } = fakeApp();
    const answer = await app.request(asked, WITH_KEY);
    const { type, detail } = await bodyOf(answer);
    expect([answer.status, type, detail]).toEqual([
      404,
      `/docs#problem-${code}`,
      expect.stringContaining(words),
    ]);
    expect([keys.states(), read]).toEqual([[], []]);
  });

  it("refuses an agent without a wallet, uncharged", async () => {
    const { app, keys } = fakeApp({ findAgent: fakeAgentFinder({ wallet: null }) });
    const answer = await app.request(path(REGISTRY), WITH_KEY);
    const { type } = await bodyOf(answer);
    expect([answer.status, type, keys.states()]).toEqual([404, "/docs#problem-agent-without-wallet", []]);
  });

  it("does not call an agent unknown while the index is too old to know it", async () => {
    const head = { blockNumber: 5, timestamp: 0 };
    const behind = fakeApp({ scores: { head: async () => head } });
    const answer = await behind.app.request(path(REGISTRY, 143), WITH_KEY);
    expect([answer.status, (await bodyOf(answer)).type]).toEqual([503, "/docs#problem-index-behind"]);
  });

  it("scores a wallet on demand that the index does not follow", async () => {
    const ledger = fakeLedger();
    const asked: string[] = [];
    const { app, ports } = fakeApp(
      {
        scores: { snapshot: async () => walletSnapshot({ followed: false, score: null }) },
        scoreOnDemand: async (address) => {
          asked.push(address);
          return ports.scoreNow(address);
        },
      },
      ledger,
    );
    expect((await app.request(path(REGISTRY), WITH_KEY)).status).toBe(200);
    expect([asked, ledger.balance()]).toEqual([[WALLET], 4000]);
  });

  it.each([
    ["no address", path("0x12"), "registry", "String should match pattern"],
    ["a wrong checksum", path(REGISTRY.replace("A169", "a169")), "registry", `expected ${REGISTRY}`],
    ["no number", path(REGISTRY, "0x1"), "agent_id", "String should match pattern '^[0-9]{1,78}$'"],
    ["a number of 79 digits", path(REGISTRY, "9".repeat(79)), "agent_id", "String should match pattern"],
  ])("refuses %s with what was expected", async (_, asked, name, msg) => {
    const answer = await fakeApp().app.request(asked, WITH_KEY);
    const { detail } = await bodyOf<{ readonly detail: readonly object[] }>(answer);
    expect(answer.status).toBe(422);
    expect(detail).toMatchObject([{ loc: ["path", name], msg: expect.stringContaining(msg) }]);
  });
});
