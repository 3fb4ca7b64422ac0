import { type Address, type Hex, keccak256, toHex } from "viem";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { sanctionsListAbi } from "../../service/chain/abi/sanctions-list.ts";
import { agentLaunchpadAbi } from "../abi/agent-launchpad.ts";
import { gasBurnerAbi } from "../abi/gas-burner.ts";
import { keeperTargetAbi } from "../abi/keeper-target.ts";
import { mixerAbi } from "../abi/mixer.ts";
import { priceFeedAbi } from "../abi/price-feed.ts";
import { repairableTargetAbi } from "../abi/repairable-target.ts";
import { revertOnDemandAbi } from "../abi/revert-on-demand.ts";
import { serviceRegistryL2Abi } from "../abi/service-registry-l2.ts";
import { type DeedOf, deed, encode } from "./deed.ts";
import type { CallData, Deed } from "./plan-types.ts";

/** Measured on the contracts; a test holds the population to them. */
const GAS = {
  perform: { least: 36_000, most: 75_000 },
  setAnswer: { least: 31_000, most: 75_500 },
  run: { least: 29_000, most: 46_500 },
  work: { least: 29_000, most: 50_000 },
  breakDown: { least: 26_000, most: 48_000 },
  repair: { least: 23_000, most: 30_000 },
  setWallet: { least: 40_000, most: 92_000 },
  sanction: { least: 30_000, most: 80_000 },
  createService: { least: 45_000, most: 90_000 },
  launch: { least: 26_000, most: 60_000 },
  mix: { least: 30_000, most: 47_500 },
} as const;

/** Gas of the creation code and of the deployed code on top of the transaction, by the byte of creation code. */
const GAS_PER_CODE_BYTE = 260;

const FAR_FUTURE = 4_102_444_800n;

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

/** Breaks the repairable target for an account until a time in unix seconds. */
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

/** Creates a service of Olas' registry, of which the caller is the multisig. */
export function createService(registry: Address, configHash: Hex): Deed {
  return deed(registry, encode(serviceRegistryL2Abi, "create", [configHash]), GAS.createService, "success");
}

/** Launches an agent that acts through the caller's account. */
export function launchAgent(launchpad: Address): Deed {
  return deed(launchpad, encode(agentLaunchpadAbi, "launch", []), GAS.launch, "success");
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

/** Puts a wallet on the sanctions list. */
export function listAsSanctioned(list: Address, wallet: Address): Deed {
  return deed(list, encode(sanctionsListAbi, "addToSanctionsList", [[wallet]]), GAS.sanction, "success");
}

/** Gives native coin, in wei, to the mixer, to be taken out by the account that knows the note. */
export function mixCoin(mixer: Address, note: string, amount: bigint): Deed {
  const commitment = keccak256(keccak256(toHex(note)));
  return { ...deed(mixer, encode(mixerAbi, "deposit", [commitment]), GAS.mix, "success"), value: amount };
}

/** Creates a contract from its creation code; the sender and its nonce say where. */
export function createContract(creationCode: Hex): Deed {
  const bytes = (creationCode.length - 2) / 2;
  const gas = { least: 53_000, most: 120_000 + bytes * GAS_PER_CODE_BYTE };
  return { to: null, data: creationCode, value: 0n, gas, outcome: "success", creates: null, needs: null };
}
