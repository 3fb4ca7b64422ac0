import { type Address, encodeFunctionData } from "viem";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import { allRows, createEnrichWorld, type EnrichWorld, enrichAll } from "./enrich-world.ts";

export const WALLETS = ["a1", "b2", "c3", "d4", "e5"].map((byte): Address => `0x${byte.repeat(20)}`);
export const [FIRST, SECOND] = WALLETS as [Address, Address];

export type Rows = Record<string, readonly unknown[]>;

/** A world of five wallets that did something over some 30 blocks, and all rows that enriching it gives. */
export async function createBusyWorld(): Promise<{ readonly world: EnrichWorld; readonly whole: Rows }> {
  const world = await createEnrichWorld();
  for (const wallet of WALLETS) await world.follow(wallet);
  const { usdc, weth } = world.chain.contracts;
  for (const wallet of WALLETS) {
    await world.chain.succeed(wallet);
    await world.mint(usdc, wallet, 100n);
    await world.mint(weth, wallet, 100n);
    await world.chain.revert(wallet);
  }
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "approve", args: [SECOND, 7n] });
  await world.chain.send({ from: FIRST, to: usdc, data });
  await world.index();
  await enrichAll(world);
  return { world, whole: await allRows(world) };
}

/** A call of the node that fails in that way. */
export const fail = (kind: NodeFailure["kind"]) => () =>
  Promise.reject(new NodeFailure(kind, "as the test wishes"));
