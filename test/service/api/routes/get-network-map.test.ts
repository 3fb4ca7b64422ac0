import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { NetworkMapAnswer } from "../../../../service/api/routes/get-network-map.ts";
import type { AccountFact, Contact } from "../../../../service/model/features/types.ts";
import type { AccountDetail } from "../../../../service/reports/labels/chain-labels.ts";
import type { Child } from "../../../../service/reports/network/wallet-network-graph.ts";
import { account } from "../../model/features/histories.ts";
import { bodyOf, fakeApp, LISTING, WALLET, WALLET_EIP55, WITH_KEY } from "../fake-ports.ts";

const PATH = `/network-map/${WALLET}`;
const FUNDER = account(0xf1);
const SIBLING = account(0xf2);
const EXCHANGE = account(0xee);
const CUSTOMER = account(0xef);
const SHOP = account(0xe0);

type Changes = Parameters<typeof fakeApp>[0];

async function ask(changes: Changes = {}) {
  const fake = fakeApp(changes);
  const response = await fake.app.request(PATH, WITH_KEY);
  return { ...fake, response, body: await bodyOf<NetworkMapAnswer>(response) };
}

function factOf(address: Address, firstFunder: Address | null): readonly [Address, AccountFact] {
  return [address, { address, firstFunder, creator: null, hasCode: false, existedAt: null }];
}

/** The wallet and a sibling have one funder; the shop was funded by an exchange, as was a customer of its. */
function family(funder: Address, publicFunders: readonly Address[]): Changes {
  const facts = new Map([factOf(WALLET, funder), factOf(SHOP, EXCHANGE), factOf(SIBLING, funder)]);
  const children: readonly Child[] = [
    { parent: FUNDER, address: SIBLING, by: "first_funder" },
    { parent: EXCHANGE, address: CUSTOMER, by: "first_funder" },
  ];
  const paid: Contact = {
    ...{ account: SHOP, counterparty: SIBLING, calls: 2, sentMicroUsd: 1_500_000n },
    ...{ firstTime: 1_790_000_000, lastTime: 1_790_000_500 },
  };
  return {
    publicFunders: new Set(publicFunders),
    readNeighbourhood: async () => ({ facts, children, calls: [], cut: false }),
    readAccountLinks: async () => ({
      facts,
      contacts: [paid],
      cut: false,
      owners: {
        cluster: new Map([
          [WALLET, "itself"],
          [FUNDER, "first_funder"],
          [SIBLING, "first_funder"],
        ]),
        groups: new Map(),
      },
    }),
  };
}

describe("GET /network-map/{address}", () => {
  it("shows the wallet, its funder, who shares it and its peers, and what links them, for ten cents", async () => {
    const { response, body, keys } = await ask(family(FUNDER, [EXCHANGE]));
    expect(response.status).toBe(200);
    expect(keys.balance()).toBe(4900);
    const hops = Object.fromEntries(body.nodes.map((node) => [node.address.toLowerCase(), node.hops]));
    expect(hops).toMatchObject({ [WALLET]: 0, [FUNDER]: 1, [SHOP]: 1, [SIBLING]: 2, [EXCHANGE]: 2 });
    expect(body.nodes[0]?.address).toBe(WALLET_EIP55);
    const kinds = body.edges.map(({ from, to, kind }) => [kind, from.toLowerCase(), to.toLowerCase()]);
    expect(kinds).toContainEqual(["funded", FUNDER, WALLET]);
    expect(kinds).toContainEqual(["funded", FUNDER, SIBLING]);
    expect(kinds).toContainEqual(["funded", EXCHANGE, SHOP]);
    expect(kinds).toContainEqual(["shares_funder", WALLET, SIBLING]);
    expect(kinds).toContainEqual(["paid", WALLET, SHOP]);
    expect(body.edges.find(({ from }) => from.toLowerCase() === SHOP)).toMatchObject({
      ...{ kind: "paid", calls: 2, volume_usd: 1.5, first_seen: "2026-09-21T14:13:20.000Z" },
    });
    expect(body.cluster).toBe(body.nodes.find(({ address }) => address.toLowerCase() === FUNDER)?.cluster);
    expect(body.cluster_size).toBe(3);
    expect([body.truncated, body.left_out]).toEqual([false, { nodes: 0, edges: 0, at_least: false }]);
  });

  it("shows an exchange that funded the wallet, without links", async () => {
    const { body } = await ask({
      ...family(EXCHANGE, [EXCHANGE]),
      knownAccounts: new Map([
        [EXCHANGE, [{ label: "Public funder", category: "public_funder", source: "deployment" }]],
      ]),
    });
    const shown = body.nodes.find(({ address }) => address.toLowerCase() === EXCHANGE);
    expect(shown).toMatchObject({ kind: "public_funder", hops: 1 });
    expect(body.edges.filter(({ kind }) => kind === "shares_funder")).toHaveLength(1);
    expect(body.nodes.map(({ address }) => address.toLowerCase())).not.toContain(CUSTOMER);
  });

  it("says of each node its grade, its flags and what it is", async () => {
    const detail = (changes: Partial<AccountDetail>): AccountDetail => ({
      ...{ address: SHOP, agents: [], hasCode: true, score: null, sanctions: [] },
      ...changes,
    });
    const { body } = await ask({
      describeAccounts: async () =>
        new Map([
          [SHOP, detail({ sanctions: [LISTING], score: { ahsScore: 0, grade: "F" } })],
          [WALLET, detail({ agents: [{ agentId: 3n, registry: null, name: null }], hasCode: false })],
        ]),
    });
    expect(body.nodes[0]).toMatchObject({ kind: "agent", name: "Agent 3", cluster: null });
    expect(body.nodes.find(({ address }) => address.toLowerCase() === SHOP)).toMatchObject({
      ...{ kind: "contract", grade: "F", ahs_score: 0, flags: ["sanctioned"] },
    });
    expect(body.nodes.find(({ address }) => address.toLowerCase() === account(0xd1))?.kind).toBe("unknown");
  });

  it("keeps to its size and counts what it leaves out, whatever hub the wallet deals with", async () => {
    const children = Array.from({ length: 500 }, (_, place): Child => {
      return { parent: WALLET, address: account(0x5000 + place), by: "first_funder" };
    });
    const contacts = children.flatMap(({ address }, place): Contact[] =>
      children.slice(place + 1, place + 4).map(({ address: other }) => ({
        ...{ account: address, counterparty: other, calls: 1, sentMicroUsd: 0n, firstTime: 0, lastTime: 0 },
      })),
    );
    const { body } = await ask({
      readNeighbourhood: async () => ({ facts: new Map(), children, calls: [], cut: true }),
      readAccountLinks: async () => ({
        owners: { cluster: new Map(), groups: new Map() },
        facts: new Map(),
        contacts,
        cut: false,
      }),
    });
    expect(body.nodes).toHaveLength(150);
    expect(body.edges).toHaveLength(400);
    expect(body).toMatchObject({ truncated: true, left_out: { nodes: 355, at_least: true } });
    expect(body.left_out.edges).toBeGreaterThan(0);
    const ids = new Set(body.nodes.map(({ id }) => id));
    for (const { from, to } of body.edges) expect(ids.has(from) && ids.has(to)).toBe(true);
  });
});
