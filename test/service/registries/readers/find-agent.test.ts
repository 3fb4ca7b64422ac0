import type { Address } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { createAgentFinder } from "../../../../service/registries/readers/find-agent.ts";
import { readSampleAgent } from "../../../../service/scores/ecosystem.ts";
import { useDatabase } from "../../../support/test-database.ts";

const CHAIN = 31337;
const INDEXED = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
const FURTHER = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
const WALLET: Address = `0x${"11".repeat(20)}`;
const BAZAAR = { address: FURTHER, startBlock: 0, name: "Bazaar", kind: "erc8004" } as const;
const OTHER: Address = `0x${"22".repeat(20)}`;
const LARGEST = 2n ** 256n - 1n;

const db = useDatabase();
const find = createAgentFinder(db, {
  chainId: CHAIN,
  identityRegistry: { address: INDEXED, startBlock: 0 },
  registries: [BAZAAR],
});
const [indexed, further] = [INDEXED, FURTHER].map((address) => address.toLowerCase() as Address) as [
  Address,
  Address,
];

beforeAll(async () => {
  await db.$client.query(`
    create schema chain_${CHAIN};
    create table chain_${CHAIN}.agent (agent_id numeric(78) primary key, wallet text);
    insert into chain_${CHAIN}.agent values (1, null), (2, '${WALLET}'), (${LARGEST}, '${OTHER}');
    insert into ahs.agent_document (chain_id, agent_id, uri, state, name, services, attempts)
    values (${CHAIN}, 2, 'u', 'current', 'Atlas', '[]', 0);
    insert into ahs.registry_agent (chain_id, registry, agent_id, wallet, name, registered_block, updated_block)
    values (${CHAIN}, '${further}', 2, '${OTHER}', 'Courier', 1, 1), (${CHAIN}, '${further}', 3, null, null, 1, 1),
           (1, '${further}', 4, '${OTHER}', null, 1, 1), (${CHAIN}, '${OTHER}', 2, '${WALLET}', null, 1, 1);`);
});

describe("an agent", () => {
  it.each<readonly [string, Address, bigint, object]>([
    ["of the index", indexed, 2n, { name: "Atlas", wallet: WALLET }],
    ["of the same number in a further registry", further, 2n, { name: "Courier", wallet: OTHER }],
    ["with the largest number", indexed, LARGEST, { name: null, wallet: OTHER }],
    ["without a wallet", indexed, 1n, { name: null, wallet: null }],
    ["without a wallet in a further registry", further, 3n, { name: null, wallet: null }],
  ])("%s is found with its wallet", async (_, registry, agentId, facts) => {
    const agent = { registry: registry === further ? BAZAAR : null, agentId, ...facts };
    for (const chainId of [null, CHAIN])
      expect(await find({ chainId, registry, agentId })).toEqual({ kind: "found", agent });
  });

  it.each([
    [indexed, 99n],
    [indexed, 10n ** 78n - 1n],
    [further, 4n],
  ])("that %s does not have is unknown", async (registry, agentId) => {
    expect(await find({ chainId: null, registry, agentId })).toEqual({ kind: "unknown" });
  });

  it("of another registry or chain is not looked for, even if rows of that registry are left", async () => {
    const refusal = { kind: "not-followed", registries: [indexed, further] };
    expect(await find({ chainId: null, registry: OTHER, agentId: 2n })).toEqual(refusal);
    expect(await find({ chainId: 1, registry: indexed, agentId: 2n })).toEqual(refusal);
  });

  it("for examples is an early one with a wallet", async () => {
    expect(await readSampleAgent(db, CHAIN)).toBe(2n);
  });
});
