import { type Address, encodeFunctionData, numberToHex } from "viem";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import {
  type AccountFactSource,
  type FactsContext,
  gatherAccountFacts,
} from "../../../../service/ingest/enrich/account-facts.ts";
import { createOtterscanFacts } from "../../../../service/ingest/enrich/otterscan-facts.ts";
import { contextOf, createEnrichWorld, type EnrichWorld, rowsOf } from "./enrich-world.ts";

export const WALLET: Address = `0x${"a1".repeat(20)}`;
export const PAYEE: Address = `0x${"fe".repeat(20)}`;
export const FUNDER: Address = `0x${"f0".repeat(20)}`;
export const SILENT: Address = `0x${"51".repeat(20)}`;

/**
 * A world that is indexed and not enriched.
 * A wallet called a contract, and paid tokens to a funded account and to an account without funds.
 */
export async function createFactsWorld() {
  const world = await createEnrichWorld();
  await world.chain.rpc.request("anvil_setBalance", FUNDER, numberToHex(10n ** 20n));
  const { blockNumber: funded } = await world.chain.send({ from: FUNDER, to: PAYEE, value: 10n ** 18n });
  const { blockNumber: sent } = await world.chain.send({ from: PAYEE, to: FUNDER, value: 1n });
  await world.follow(WALLET);
  await world.mint(world.chain.contracts.usdc, WALLET, 100n);
  await world.chain.succeed(WALLET);
  for (const to of [PAYEE, SILENT]) await payTokens(world, to);
  await world.index();
  return { world, funded, sent };
}

export async function payTokens(world: EnrichWorld, to: Address): Promise<void> {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "transfer", args: [to, 5n] });
  await world.chain.send({ from: WALLET, to: world.chain.contracts.usdc, data });
}

/** A context whose clock moves only by the test. */
export function contextWith(
  world: EnrichWorld,
  source: AccountFactSource | null,
): FactsContext & { at: { ms: number } } {
  const signal = new AbortController().signal;
  const at = { ms: 0 };
  const context = contextOf(world, (real) => real);
  return { ...context, source, at, now: () => at.ms, setAside: new Map(), signal };
}

/** Reads until no account is due. */
export async function readAll(context: FactsContext): Promise<void> {
  while ((await gatherAccountFacts(context)).more);
}

/** Stored facts of an account. */
export async function factsOf(world: EnrichWorld, address: Address) {
  return (await rowsOf(world, "account_fact")).find((row) => row.address === address.toLowerCase());
}

/** The local node's Otterscan methods. */
export function otterscanOf(world: EnrichWorld): AccountFactSource {
  return createOtterscanFacts({ url: world.chain.rpcUrl, entryPoints: new Set() });
}

/** A source that knows nothing and notes whom it was asked for. */
export function ignorant(asked: Address[] = []): AccountFactSource {
  return {
    name: "ignorant",
    read: async ({ address }) => {
      asked.push(address);
      return { kind: "facts", creator: null, firstFunder: null, existed: null };
    },
  };
}
