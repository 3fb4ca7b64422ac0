import { type Address, encodeFunctionData, getAddress, type Hex, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { keeperTargetAbi } from "../../devnet/abi/keeper-target.ts";
import { startTestChain, type TestChain } from "../../test/support/anvil-testkit/chain.ts";
import { pick, type Random } from "../random.ts";

/** Wallets of the torture's agents. */
export const AGENTS: readonly Address[] = Array.from({ length: 6 }, (_, index) =>
  getAddress(numberToHex(0xa9e00 + index, { size: 20 })),
);
/** An agent that has a key of its own, delivers jobs, and does nothing else after its history. */
const PROVIDER_KEY: Hex = `0x${"a9".repeat(32)}`;
export const PROVIDER = { address: privateKeyToAccount(PROVIDER_KEY).address, privateKey: PROVIDER_KEY };
const HISTORY_DAYS = 14;
const AGE_SECONDS = 20 * 86_400;
const CALL_GAS = 500_000n;
const UNKNOWN_SELECTOR: Hex = "0xdeadbeef";
const GWEI = 1_000_000_000n;
const BAD_SHARE = { good: 0.05, bad: 0.8 } as const;
/** Rounds after which an agent's conduct may turn. */
const TURN_EVERY = 12;

const PERFORM = encodeFunctionData({ abi: keeperTargetAbi, functionName: "perform", args: [1n, 2n ** 63n] });

/** A chain whose every change goes through one queue, so that blocks, calls and reorgs never meet half-way. */
export type StandChain = ReturnType<typeof controls>;

/** Starts a chain with two weeks of history of every agent, up to now. */
export async function startStandChain(random: Random): Promise<StandChain> {
  const test = await startTestChain(AGE_SECONDS);
  const followed = [...AGENTS, PROVIDER.address];
  for (const agent of followed) await test.register(agent);
  for (const agent of followed) await test.succeedInCrowd(agent);
  for (let day = 0; day < HISTORY_DAYS; day += 1) {
    await test.moveTime(86_400);
    await Promise.all(followed.map((agent) => submit(test, agent, PERFORM)));
    await test.tick();
  }
  await test.toWallClock();
  await test.mine(test.deployment.finalityBlocks + 5, 0);
  return controls(test, random);
}

function controls(test: TestChain, random: Random) {
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act, act);
    last = next.catch(() => undefined);
    return next;
  };
  const badShares = AGENTS.map((_, place): number => (place % 2 === 0 ? BAD_SHARE.good : BAD_SHARE.bad));
  let round = 0;
  const act = async (): Promise<number> => {
    round += 1;
    if (round % TURN_EVERY === 0) {
      const place = Math.floor(random() * AGENTS.length);
      badShares[place] = random() < 0.5 ? BAD_SHARE.good : BAD_SHARE.bad;
    }
    const calls = 1 + Math.floor(random() * 3);
    for (let call = 0; call < calls; call += 1) {
      const agent = pick(random, AGENTS);
      const share = badShares[AGENTS.indexOf(agent)] ?? BAD_SHARE.good;
      await submit(test, agent, random() < share ? UNKNOWN_SELECTOR : PERFORM);
    }
    await test.tick();
    return calls;
  };
  return {
    test,
    /** Does something to the chain while nothing else does. */
    alone,
    /** Mines one block with whatever waits. */
    tick: () => alone(test.tick),
    /** Has some agents call, some of them in vain, in one block. */
    act: () => alone(act),
    head: async () => {
      const block = (await test.rpc.request("eth_getBlockByNumber", "latest", false)) as {
        number: Hex;
        hash: Hex;
      };
      return { number: Number(block.number), hash: block.hash };
    },
  };
}

/** Puts an agent's call into the pool. */
async function submit({ rpc, contracts }: TestChain, from: Address, data: Hex): Promise<void> {
  await rpc.request("anvil_impersonateAccount", from);
  await rpc.request("eth_sendTransaction", {
    from,
    to: contracts.keeperTarget1,
    data,
    gas: numberToHex(CALL_GAS),
    maxPriorityFeePerGas: numberToHex(GWEI / 10n),
    maxFeePerGas: numberToHex(100n * GWEI),
  });
}
