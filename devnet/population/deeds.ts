import { type Abi, type Address, encodeFunctionData, type Hex, keccak256, toHex } from "viem";
import { constantProductPoolAbi } from "../../service/chain/abi/constant-product-pool.ts";
import { gasBurnerAbi } from "../../service/chain/abi/gas-burner.ts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { jobEscrowAbi } from "../../service/chain/abi/job-escrow.ts";
import { keeperTargetAbi } from "../../service/chain/abi/keeper-target.ts";
import { localTokenAbi } from "../../service/chain/abi/local-token.ts";
import { priceFeedAbi } from "../../service/chain/abi/price-feed.ts";
import { repairableTargetAbi } from "../../service/chain/abi/repairable-target.ts";
import { revertOnDemandAbi } from "../../service/chain/abi/revert-on-demand.ts";
import { sanctionsListAbi } from "../../service/chain/abi/sanctions-list.ts";
import { spamTokenAbi } from "../../service/chain/abi/spam-token.ts";
import type { CallData, Creation, Outcome } from "./plan-types.ts";
import type { Pool, Token } from "./world.ts";

/** Gas that a kind of call takes on chain, least and most over the whole population. */
type GasNeed = { readonly least: number; readonly most: number };

/** A call without its sender, its time and its fees. */
export type Deed = {
  readonly to: Address;
  readonly data: CallData;
  readonly value: bigint;
  readonly gas: GasNeed;
  readonly outcome: Outcome;
  readonly creates: Creation | null;
  /** Key of the agent or job that must exist before. */
  readonly needs: string | null;
};

/** The same call, to succeed or to fail in the given way. */
export type DeedOf = (outcome: Outcome) => Deed;

/** Measured on the contracts; a test holds the population to them. */
const GAS = {
  transfer: { least: 21_000, most: 21_000 },
  tokenTransfer: { least: 29_000, most: 52_500 },
  approve: { least: 26_000, most: 47_000 },
  swap: { least: 52_000, most: 98_000 },
  perform: { least: 36_000, most: 75_000 },
  setAnswer: { least: 31_000, most: 75_500 },
  run: { least: 29_000, most: 46_500 },
  work: { least: 29_000, most: 50_000 },
  breakDown: { least: 26_000, most: 48_000 },
  repair: { least: 23_000, most: 30_000 },
  setWallet: { least: 40_000, most: 75_000 },
  createJob: { least: 120_000, most: 190_000 },
  setBudget: { least: 30_000, most: 56_000 },
  fund: { least: 50_000, most: 90_000 },
  submit: { least: 30_000, most: 42_000 },
  complete: { least: 40_000, most: 85_000 },
  sanction: { least: 30_000, most: 80_000 },
} as const;

const FAR_FUTURE = 4_102_444_800n;
const MORE_THAN_ANYONE_HOLDS = 10n ** 30n;
const SLIPPAGE_PERCENT = 90n;

/** Sends native coin, in wei. */
export function sendCoin(to: Address, value: bigint): Deed {
  return { to, data: "0x", value, gas: GAS.transfer, outcome: "success", creates: null, needs: null };
}

/** Sends a token; the failing form sends more than the sender holds. */
export function sendToken(token: Address, to: Address, amount: bigint): DeedOf {
  return (outcome) => {
    const args = [to, outcome === "revert" ? MORE_THAN_ANYONE_HOLDS : amount];
    return deed(token, encode(localTokenAbi, "transfer", args), GAS.tokenTransfer, outcome);
  };
}

/** Allows a spender as much of a token as it likes. */
export function approveToken(token: Address, spender: Address): Deed {
  return deed(token, encode(localTokenAbi, "approve", [spender, 2n ** 256n - 1n]), GAS.approve, "success");
}

/** Creates tokens, as the token's owner. */
export function mintToken(token: Address, to: Address, amount: bigint): Deed {
  return deed(token, encode(localTokenAbi, "mint", [to, amount]), GAS.tokenTransfer, "success");
}

/** Sells dollars' worth of one token of a pool for the other; the failing form asks for more than the pool pays. */
export function swap(pool: Pool, trader: Address, trade: { dollars: bigint; sellFirst: boolean }): DeedOf {
  const [first, second] = pool.tokens;
  const [tokenIn, tokenOut]: readonly [Token, Token] = trade.sellFirst ? [first, second] : [second, first];
  return (outcome) => {
    const fair = (trade.dollars * tokenOut.perDollar * SLIPPAGE_PERCENT) / 100n;
    const least = outcome === "revert" ? 2n * fair : fair;
    const args = [tokenIn.address, trade.dollars * tokenIn.perDollar, least, trader];
    return deed(pool.address, encode(constantProductPoolAbi, "swap", args), GAS.swap, outcome);
  };
}

/** Runs a keeper task; the failing form comes too late. */
export function performTask(target: Address, taskId: number): DeedOf {
  return (outcome) => {
    const args = [BigInt(taskId), outcome === "revert" ? 1n : FAR_FUTURE];
    return deed(target, encode(keeperTargetAbi, "perform", args), GAS.perform, outcome);
  };
}

/** Reports a price, 8 decimals; the failing form reports zero. */
export function reportPrice(feed: Address, answer: bigint): DeedOf {
  return (outcome) => {
    const args = [outcome === "revert" ? 0n : answer];
    return deed(feed, encode(priceFeedAbi, "setAnswer", args), GAS.setAnswer, outcome);
  };
}

/** Runs a target that ends as the caller wants, with one of its four ways to revert. */
export function runOnDemand(target: Address, way: 1 | 2 | 3 | 4): DeedOf {
  return (outcome) => {
    const args = outcome === "revert" ? [way, "upstream is out of order"] : [0, ""];
    return deed(target, encode(revertOnDemandAbi, "run", args), GAS.run, outcome);
  };
}

/** Burns about 110 gas a round; it can only fail by running out of gas. */
export function burnGas(target: Address, rounds: number): DeedOf {
  const most = 60_000 + rounds * 260;
  const gas = { least: 27_000 + rounds * 100, most };
  return (outcome) => deed(target, encode(gasBurnerAbi, "burn", [BigInt(rounds)]), gas, outcome);
}

/** Works on the repairable target; it fails by itself while it is broken for the caller. */
export function work(target: Address): DeedOf {
  return (outcome) => deed(target, encode(repairableTargetAbi, "work", []), GAS.work, outcome);
}

/** Breaks the repairable target for somebody until a time in unix seconds. */
export function breakDown(target: Address, account: Address, until: number): Deed {
  const data = encode(repairableTargetAbi, "breakDown", [account, BigInt(until)]);
  return deed(target, data, GAS.breakDown, "success");
}

/** Repairs the repairable target for the caller. */
export function repair(target: Address): Deed {
  return deed(target, encode(repairableTargetAbi, "repair", []), GAS.repair, "success");
}

/** Registers an agent with a URI; the agent's id is known by the key from then on. */
export function registerAgent(registry: Address, key: string, uri: string): Deed {
  const data = encode(identityRegistryAbi, "register", [uri]);
  const most = 140_000 + 24_000 * Math.ceil(uri.length / 32);
  return { ...deed(registry, data, { least: 110_000, most }, "success"), creates: { kind: "agent", key } };
}

/** Names another wallet for the agent, with that wallet's signature over the id and a deadline of the block's time. */
export function nameAgentWallet(
  registry: Address,
  agent: { readonly key: string; readonly wallet: Address },
  sign: (consent: { agentId: bigint; deadline: bigint }) => Promise<Hex>,
): Deed {
  const data: CallData = async (ids) => {
    const consent = { agentId: ids.idOf(agent.key), deadline: BigInt(ids.blockTime + 240) };
    const args = [consent.agentId, agent.wallet, consent.deadline, await sign(consent)];
    return encode(identityRegistryAbi, "setAgentWallet", args);
  };
  return { ...deed(registry, data, GAS.setWallet, "success"), needs: agent.key };
}

/** Opens a job; its id is known by the key from then on. */
export function createJob(
  escrow: Address,
  key: string,
  job: { provider: Address; evaluator: Address; expiredAt: number },
): Deed {
  const none = "0x0000000000000000000000000000000000000000";
  const args = [job.provider, job.evaluator, BigInt(job.expiredAt), key.slice(-31), none];
  const data = encode(jobEscrowAbi, "createJob", args);
  return { ...deed(escrow, data, GAS.createJob, "success"), creates: { kind: "job", key } };
}

/** Names the price of a job in USDC units; the failing form names that of a job that does not exist. */
export function setBudget(escrow: Address, key: string, amount: bigint): DeedOf {
  return jobStep(escrow, key, { step: "setBudget", gas: GAS.setBudget, rest: [amount, "0x"] });
}

/** Locks the price of a job. */
export function fundJob(escrow: Address, key: string): DeedOf {
  return jobStep(escrow, key, { step: "fund", gas: GAS.fund, rest: ["0x"] });
}

/** Hands in the work of a job; the failing form names a job that does not exist. */
export function submitJob(escrow: Address, key: string): DeedOf {
  const deliverable = keccak256(toHex(`work of ${key}`));
  return jobStep(escrow, key, { step: "submit", gas: GAS.submit, rest: [deliverable, "0x"] });
}

/** Accepts the work of a job and pays it. */
export function completeJob(escrow: Address, key: string): DeedOf {
  const reason = keccak256(toHex(`judgement of ${key}`));
  return jobStep(escrow, key, { step: "complete", gas: GAS.complete, rest: [reason, "0x"] });
}

/** Drops a worthless token on wallets. */
export function airdropSpam(token: Address, victims: readonly Address[]): Deed {
  const gas = { least: 25_000 + 5_000 * victims.length, most: 30_000 + 32_000 * victims.length };
  return deed(token, encode(spamTokenAbi, "airdrop", [victims, 777n * 10n ** 18n]), gas, "success");
}

/** Puts a wallet on the sanctions list. */
export function listAsSanctioned(list: Address, wallet: Address): Deed {
  return deed(list, encode(sanctionsListAbi, "addToSanctionsList", [[wallet]]), GAS.sanction, "success");
}

function jobStep(
  escrow: Address,
  key: string,
  { step, gas, rest }: { step: string; gas: GasNeed; rest: readonly unknown[] },
): DeedOf {
  return (outcome) => {
    const data: CallData = (ids) => {
      const jobId = outcome === "revert" ? 2n ** 64n : ids.idOf(key);
      return encode(jobEscrowAbi, step, [jobId, ...rest]);
    };
    return { ...deed(escrow, data, gas, outcome), needs: key };
  };
}

function deed(to: Address, data: CallData, gas: GasNeed, outcome: Outcome): Deed {
  return { to, data, value: 0n, gas, outcome, creates: null, needs: null };
}

/** One encoder for all contracts; the tests that send every deed hold the names and arguments. */
function encode(abi: Abi, functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi, functionName, args });
}
