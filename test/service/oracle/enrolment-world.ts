import { type Address, encodeFunctionData, getAddress, numberToHex } from "viem";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { lowerCase } from "../../../service/db/columns.ts";
import { enrolment } from "../../../service/db/tables/history.ts";
import { type EnrolmentPolicy, enrolmentRound } from "../../../service/oracle/enrolment-round.ts";
import { requestEnrolments } from "../../../service/oracle/enrolments.ts";
import { insertOnlyCall } from "../model/features/index-tables.ts";
import { CHAIN_ID, localAccount } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld } from "./publish-world.ts";

/** As the sender under test has it. */
const FINALITY = 5;

const testPolicy: EnrolmentPolicy = {
  perDay: 100,
  maxFeeWei: 10n ** 15n,
  retryMs: { first: 50, longest: 200 },
  batch: 10,
};

export type EnrolmentWorld = Awaited<ReturnType<typeof createEnrolmentWorld>>;

/** A chain with the oracle, a database with the wallets whose score was requested there, and rounds on demand. */
export async function createEnrolmentWorld() {
  const world = await createPublishWorld();
  await world.db.$client.query(
    "create table chain_31337.wallet (address text primary key, followed_block numeric(78))",
  );
  const oracle = { address: world.oracle, abi: agentHealthOracleAbi } as const;

  /** Every request that the chain shows, oldest first. */
  const requests = () =>
    world.client.getContractEvents({ ...oracle, eventName: "ScoreRequested", fromBlock: 0n, strict: true });

  /** A substitute for the indexer: follows the wallets of the chain's requests, each from its first request. */
  const sync = async (): Promise<void> => {
    await world.sync();
    const found = await requests();
    await world.db.transaction(async (tx) => {
      await tx.execute("delete from chain_31337.wallet");
      for (const { args, blockNumber } of found) {
        const row = `('${args.wallet.toLowerCase()}', ${blockNumber})`;
        await tx.execute(`insert into chain_31337.wallet values ${row} on conflict do nothing`);
      }
    });
  };
  const roundWithoutSync = (policy: Partial<EnrolmentPolicy> = {}, now: Date = new Date()) =>
    enrolmentRound({
      chainId: CHAIN_ID,
      finalityBlocks: FINALITY,
      db: world.db,
      oracle: world.oracle,
      sender: world.sender,
      readFee: () => world.client.readContract({ ...oracle, functionName: "requestFee" }),
      policy: { ...testPolicy, ...policy },
      now: () => now,
    });
  const round: typeof roundWithoutSync = async (...args) => {
    await sync();
    return roundWithoutSync(...args);
  };
  /** Asks for wallets as a paid call does, in a transaction of its own each. */
  const askAs = async (requestedBy: string, wallets: readonly Address[]): Promise<void> => {
    for (const wallet of wallets.map(lowerCase)) {
      await insertOnlyCall(world.db.$client, wallet);
      await world.db.transaction((tx) =>
        requestEnrolments(tx, { chainId: CHAIN_ID, wallets: [wallet], requestedBy, now: new Date() }),
      );
    }
  };
  const enrolments = () => world.db.select().from(enrolment).orderBy(enrolment.wallet);
  return {
    ...world,
    requests,
    sync,
    round,
    roundWithoutSync,
    enrolments,
    ask: (...wallets: readonly Address[]): Promise<void> => askAs("key:1", wallets),
    askAs,
    /** Rounds and blocks until every enrolment is settled. */
    settle: async (): Promise<void> => {
      let last: unknown;
      await until(
        async () => {
          last = await round();
          await world.mine(1);
          const open = (await enrolments()).filter(({ state }) => state === "pending" || state === "sent");
          return open.length === 0 ? true : null;
        },
        () => `all enrolments to be settled, last seen ${JSON.stringify(last)}`,
      );
    },
    setFee: (wei: bigint) =>
      asOwner(world, encodeFunctionData({ ...oracle, functionName: "setRequestFee", args: [wei] })),
    /** A stranger asks for the wallet. */
    requestByStranger: (wallet: Address) =>
      send(world, {
        from: localAccount(2).address,
        data: encodeFunctionData({ ...oracle, functionName: "requestScore", args: [getAddress(wallet)] }),
      }),
  };
}

type World = Awaited<ReturnType<typeof createPublishWorld>>;

function asOwner(world: World, data: `0x${string}`): Promise<void> {
  return send(world, { from: localAccount(0).address, data });
}

async function send(world: World, call: { from: Address; data: `0x${string}` }): Promise<void> {
  const hash = await world.request("eth_sendTransaction", {
    ...call,
    to: world.oracle,
    gas: numberToHex(300_000),
  });
  await world.client.waitForTransactionReceipt({ hash: hash as `0x${string}`, pollingInterval: 20 });
}
