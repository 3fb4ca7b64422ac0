import { type Address, getAddress, numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { CounterpartiesAnswer } from "../../service/api/routes/get-counterparties-schema.ts";
import type { NetworkMapAnswer } from "../../service/api/routes/get-network-map.ts";
import type { ReportCard } from "../../service/api/routes/get-report-card-schema.ts";
import type { Testkit } from "../support/anvil-testkit/testkit.ts";
import { until } from "../support/until.ts";
import type { ReportStand } from "./reports-stand.ts";

const ETHER = 10n ** 18n;
const nth = (number: number): Address => getAddress(numberToHex(number, { size: 20 }));
/** One owner's: the first funds the others, and they pay one another round and round. */
const RING = [nth(0xa9e11), nth(0xa9e12), nth(0xa9e13)] as const;
const [LEADER] = RING;
/** Pays the same people again and again; funded, as the leader of the ring, by an exchange. */
const PAYROLL = nth(0xa9e21);
const PAYEES = [nth(0xbee01), nth(0xbee02), nth(0xbee03)] as const;
/** A public funder of the deployment. */
const EXCHANGE = getAddress(roleAccounts().deployer.address);

/** Six days in which a ring pays itself round and round, and a payroll its payees. */
export async function makeNetworkPast({ chain }: Testkit): Promise<void> {
  const send = async (from: Address, to: Address, value: bigint): Promise<void> => {
    const { status } = await chain.send({ from, to, value });
    expect(status).toBe("success");
  };
  await send(EXCHANGE, LEADER, 50n * ETHER);
  await send(EXCHANGE, PAYROLL, 50n * ETHER);
  for (const payee of PAYEES) await send(EXCHANGE, payee, ETHER);
  for (const member of RING.slice(1)) await send(LEADER, member, 5n * ETHER);
  for (const wallet of [...RING, PAYROLL]) await chain.register(wallet);
  for (let round = 0; round < 6; round += 1) {
    await chain.moveTime(86_400);
    for (const [place, member] of RING.entries())
      await send(member, RING[(place + 1) % RING.length] ?? LEADER, ETHER / 10n);
    for (const payee of PAYEES) await send(PAYROLL, payee, ETHER / 100n);
  }
}

/** Declares tests of the reports on whom a wallet deals with. */
export function describeNetwork({ createCaller }: ReportStand): void {
  let caller: Awaited<ReturnType<ReportStand["createCaller"]>>;
  beforeAll(async () => {
    caller = await createCaller();
    await until({ what: "the facts of the ring are known" }, async () => {
      const response = await caller.ask(`/network-map/${RING[1]}`);
      if (response.status !== 200) return null;
      const map = (await response.json()) as NetworkMapAnswer;
      return map.cluster_size >= RING.length ? true : null;
    });
  });

  test("a ring of one owner is one cluster for each member that was funded by another, and none for who funded them without a return", async () => {
    expect((await caller.read<NetworkMapAnswer>(`/network-map/${LEADER}`)).cluster).toBeNull();
    for (const member of RING.slice(1)) {
      const map = await caller.read<NetworkMapAnswer>(`/network-map/${member}`);
      const ring = map.nodes.filter(({ address }) => isOfRing(address));
      expect(ring.map(({ cluster }) => cluster)).toEqual(RING.map(() => LEADER));
      expect(map.cluster).toBe(LEADER);
    }
    const { edges } = await caller.read<NetworkMapAnswer>(`/network-map/${RING[1]}`);
    const links = edges.map(({ kind, from, to }) => [kind, from, to]);
    expect(links).toContainEqual(["funded", LEADER, RING[1]]);
    expect(links).toContainEqual(["shares_funder", RING[1], RING[2]]);
    expect(links).toContainEqual(["paid", RING[1], RING[2]]);
  });

  test("an exchange that funded two wallets is shown and links neither to the other", async () => {
    const map = await caller.read<NetworkMapAnswer>(`/network-map/${PAYROLL}`);
    expect(map.nodes.find(({ address }) => address === EXCHANGE)).toMatchObject({
      kind: "public_funder",
      hops: 1,
    });
    expect(map.edges).toContainEqual(
      expect.objectContaining({ kind: "funded", from: EXCHANGE, to: PAYROLL }),
    );
    expect(map.nodes.map(({ address }) => address)).not.toContain(LEADER);
    expect([map.cluster, map.cluster_size]).toEqual([null, 1]);
    expect(map.edges.map(({ kind }) => kind)).not.toContain("shares_funder");
  });

  test("the payees of a payroll are its counterparties, a page at a time", async () => {
    const first = await caller.read<CounterpartiesAnswer>(`/counterparties/${PAYROLL}?limit=2`);
    const second = await caller.read<CounterpartiesAnswer>(
      `/counterparties/${PAYROLL}?limit=100&cursor=${first.next_cursor}`,
    );
    const all = [...first.counterparties, ...second.counterparties];
    expect([second.as_of_block, second.next_cursor]).toEqual([first.as_of_block, null]);
    const payees = all.filter(({ calls }) => calls === 6);
    expect(payees.map(({ address }) => address)).toEqual(
      [...PAYEES].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
    );
    for (const payee of payees) {
      expect(payee).toMatchObject({ direction: "out", failed_calls: 0, owner_link: null });
      expect(payee.volume_out).toMatchObject({
        native_wei: ((6n * ETHER) / 100n).toString(),
        fully_priced: true,
      });
    }
    expect(first.totals).toMatchObject({ own_accounts: 0, incoming_complete: true });
  });

  test("a ring's counterparties are its owner's own, out and in", async () => {
    // Facts of accounts are cached for some seconds.
    const { counterparties, totals } = await until({ what: "the report knows the owner" }, async () => {
      const answer = await caller.read<CounterpartiesAnswer>(`/counterparties/${RING[1]}`);
      return answer.totals.own_accounts > 0 ? answer : null;
    });
    const next = counterparties.find(({ address }) => address === RING[2]);
    const leader = counterparties.find(({ address }) => address === LEADER);
    expect(next).toMatchObject({ direction: "out", independence: 0 });
    expect(next?.owner_link).not.toBeNull();
    expect(leader).toMatchObject({ direction: "in", transfers_in: 6, owner_link: "first_funder" });
    expect(totals.own_accounts).toBeGreaterThan(0);
  });

  test("a scored wallet has a report card in words and as a picture", async () => {
    const card = await caller.read<ReportCard>(`/report-card/${PAYROLL}`);
    expect(card.address).toBe(PAYROLL);
    expect(card.benchmark.scored_wallets).toBeGreaterThanOrEqual(0);
    expect(card.dimensions.map(({ dimension }) => dimension)).toEqual(["D1", "D2"]);
    const picture = await caller.ask(`/report-card/${PAYROLL}?format=png`);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
    const bytes = new Uint8Array(await picture.arrayBuffer());
    expect([...bytes.slice(1, 4)]).toEqual([..."PNG"].map((letter) => letter.charCodeAt(0)));
  });
}

function isOfRing(address: string): boolean {
  return RING.some((member) => member === address);
}
