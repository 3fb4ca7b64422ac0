import { concatHex, numberToHex } from "viem";
import { entryPointAbi } from "../abi/entry-point.ts";
import { operatedWalletAbi } from "../abi/operated-wallet.ts";
import { type AgentContext, planned } from "./agent.ts";
import { deed, encode } from "./deed.ts";
import type { CallData, Deed, PlannedCall } from "./plan-types.ts";

/** Paid for each operation on top of what its execution takes. */
const PRE_VERIFICATION_GAS = 48_000n;
const VERIFICATION_GAS = 20_000n;
/** Gas that the account needs to pass a call on. */
const EXECUTION_GAS = 22_000;
/** Gas of bundle, nonce and events around the execution of an operation. */
const BUNDLE_GAS = { least: 60_000, most: 130_000 };

/** A deed, whose data is known, that the smart account does by an ERC-4337 operation in a bundle, which never fails itself. */
export function operate(context: AgentContext, at: number, done: Deed): PlannedCall {
  const { wallet, habits, world } = context;
  const { bundler, contracts } = world;
  const { to, data: inner, value } = done;
  if (typeof inner === "function") throw new Error("an operation cannot wait for the id of a job");
  const callGas = Math.ceil(done.gas.most * habits.headroom) + EXECUTION_GAS;
  const data: CallData = async (ids) => {
    const operation = {
      sender: wallet.address,
      nonce: await ids.nextOperation(wallet.address),
      initCode: "0x",
      callData: encode(operatedWalletAbi, "execute", [to, value, inner]),
      accountGasLimits: twoHalves(VERIFICATION_GAS, BigInt(callGas)),
      preVerificationGas: PRE_VERIFICATION_GAS,
      gasFees: twoHalves(habits.tipWei, habits.tipWei),
      paymasterAndData: "0x",
      signature: "0x",
    };
    return encode(entryPointAbi, "handleOps", [[operation], bundler.address]);
  };
  const gas = { least: BUNDLE_GAS.least, most: BUNDLE_GAS.most + callGas };
  return planned({ address: bundler.address, habits }, at, deed(contracts.entryPoint, data, gas, "success"));
}

function twoHalves(high: bigint, low: bigint) {
  return concatHex([numberToHex(high, { size: 16 }), numberToHex(low, { size: 16 })]);
}
