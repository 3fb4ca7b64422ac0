import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, it, test } from "vitest";
import type { AccountFact, Contact } from "../../../../service/model/features/types.ts";
import {
  CLOSE_PEERS,
  chooseEdges,
  chooseNodes,
  clusterIds,
} from "../../../../service/reports/network/network-map.ts";
import type { Neighbourhood } from "../../../../service/reports/network/wallet-network-graph.ts";
import { account, WALLET } from "../../model/features/histories.ts";

const addresses = fc.nat(60).map((number) => account(number));
const maybe = fc.option(addresses, { nil: null });
const facts = fc
  .uniqueArray(fc.tuple(addresses, maybe, maybe), { selector: ([address]) => address, maxLength: 40 })
  .map(
    (list): ReadonlyMap<Address, AccountFact> =>
      new Map(
        list.map(([address, creator, firstFunder]) => [
          address,
          { address, creator, firstFunder, hasCode: null, existedAt: null },
        ]),
      ),
  );
const neighbourhoods = fc.record({
  facts,
  children: fc.array(
    fc.record({ parent: addresses, address: addresses, by: fc.constantFrom("creator", "first_funder") }),
    { maxLength: 60 },
  ),
  calls: fc.array(fc.record({ account: addresses, counterparty: addresses, calls: fc.nat(9) }), {
    maxLength: 60,
  }),
  cut: fc.boolean(),
});
const contacts = fc.uniqueArray(
  fc.record({
    account: addresses,
    counterparty: addresses,
    calls: fc.nat(9),
    sentMicroUsd: fc.bigInt(0n, 99n),
    firstTime: fc.nat(99),
    lastTime: fc.nat(99),
  }),
  { selector: ({ account, counterparty }) => `${account} ${counterparty}`, maxLength: 200 },
);
const maps = fc.record({
  peers: fc.uniqueArray(addresses, { maxLength: 60 }),
  around: neighbourhoods,
  publicFunders: fc.array(addresses, { maxLength: 5 }).map((list) => new Set(list)),
  contacts,
  maxNodes: fc.integer({ min: 1, max: 40 }),
  maxEdges: fc.integer({ min: 0, max: 60 }),
});

test("a map keeps to its size, links its own nodes alone, and is the same for the same facts in any order", () => {
  fc.assert(
    fc.property(maps, fc.func(fc.nat()), (map, random) => {
      const draw = (shuffle: <Entry>(list: readonly Entry[]) => readonly Entry[]) => {
        const around: Neighbourhood = {
          ...map.around,
          facts: new Map(shuffle([...map.around.facts])),
          children: shuffle(map.around.children),
        };
        const chosen = chooseNodes({ ...map, wallet: WALLET, around });
        const links = { facts: around.facts, contacts: shuffle(map.contacts) };
        const { maxEdges } = map;
        const drawn = chooseEdges({ wallet: WALLET, chosen, links, ownContacts: [], maxEdges });
        return { nodes: [...chosen.nodes], leftOut: chosen.leftOut, drawn };
      };
      const { nodes, drawn } = draw((list) => list);
      expect(nodes[0]).toEqual([WALLET, 0]);
      expect(nodes.length).toBeLessThanOrEqual(map.maxNodes);
      expect(drawn.edges.length).toBeLessThanOrEqual(map.maxEdges);
      const known = new Set(nodes.map(([address]) => address));
      for (const { from, to } of drawn.edges)
        expect([known.has(from), known.has(to), from !== to]).not.toContain(false);
      const shuffled = draw((list) => list.toSorted((one, other) => random(one) - random(other)));
      expect(shuffled).toEqual(draw((list) => list));
    }),
  );
});

describe("the nodes of a map", () => {
  const around: Neighbourhood = { facts: new Map(), children: [], calls: [], cut: false };
  const choose = (changes: Partial<Parameters<typeof chooseNodes>[0]>) =>
    chooseNodes({ wallet: WALLET, peers: [], around, publicFunders: new Set(), maxNodes: 150, ...changes });

  it("are counted where they find no room, distant peers last", () => {
    const peers = Array.from({ length: 100 }, (_, place) => account(0x100 + place));
    const calls = [{ account: account(0x100), counterparty: account(0x999), calls: 1 }];
    const { nodes, leftOut } = choose({ peers, around: { ...around, calls }, maxNodes: CLOSE_PEERS + 2 });
    expect(leftOut).toBe(40);
    expect([...nodes.keys()].at(-1)).toBe(account(0x999));
    expect(nodes.get(account(0x999))).toBe(2);
  });

  it("lead nowhere from a public funder", () => {
    const FUNDER = account(0xee);
    const fact = { address: WALLET, creator: null, firstFunder: FUNDER, hasCode: false, existedAt: null };
    const children = [{ parent: FUNDER, address: account(7), by: "first_funder" as const }];
    const known = { ...around, facts: new Map([[WALLET, fact]]), children };
    const calls = [{ account: FUNDER, counterparty: account(8), calls: 1 }];
    const open = choose({ around: { ...known, calls }, peers: [FUNDER] });
    expect([...open.nodes.keys()]).toEqual([WALLET, FUNDER, account(7), account(8)]);
    const hidden = choose({ around: { ...known, calls }, peers: [FUNDER], publicFunders: new Set([FUNDER]) });
    expect([...hidden.nodes.keys()]).toEqual([WALLET, FUNDER]);
    expect(hidden.siblings.size).toBe(0);
  });
});

describe("the edges of a map", () => {
  it("show calls without funds as unpriced, and the wallet's own calls where no contact is known", () => {
    const chosen = {
      nodes: new Map([[WALLET, 0] as const, [account(5), 1] as const]),
      siblings: new Set<Address>(),
      leftOut: 0,
    };
    const own: Contact = {
      ...{ account: WALLET, counterparty: account(5), calls: 2, sentMicroUsd: 0n, firstTime: 1, lastTime: 2 },
    };
    const draw = (known: readonly Contact[]) =>
      chooseEdges({
        ...{ wallet: WALLET, chosen, maxEdges: 9, ownContacts: [own] },
        links: { facts: new Map(), contacts: known },
      }).edges;
    const edge = { from: WALLET, to: account(5), firstAt: 1, lastAt: 2 };
    expect(draw([])).toEqual([{ ...edge, kind: "called", calls: 2, microUsd: null }]);
    expect(draw([{ ...own, calls: 7, sentMicroUsd: 3n }])).toEqual([
      { ...edge, kind: "paid", calls: 7, microUsd: 3n },
    ]);
  });
});

test("a cluster is named after its lowest address, and a lone account is in none", () => {
  const shared = {
    cluster: new Map([
      [account(9), "itself" as const],
      [account(3), "creator" as const],
    ]),
    groups: new Map([[account(7), account(6)]]),
  };
  const idOf = clusterIds(shared, [account(9), account(7), account(1)]);
  expect([idOf(account(9)), idOf(account(7)), idOf(account(1))]).toEqual([account(3), account(6), null]);
  const alone = { cluster: new Map([[account(9), "itself" as const]]), groups: new Map() };
  expect(clusterIds(alone, [account(9)])(account(9))).toBeNull();
});
