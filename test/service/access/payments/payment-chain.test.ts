import { type Address, encodeFunctionData } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { smartWalletAbi } from "../../../../devnet/abi/smart-wallet.ts";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import { carryingOut, openUsdcChain, type UsdcChain } from "../../../support/usdc-chain.ts";

let usdc: UsdcChain;

beforeAll(async () => {
  usdc = await openUsdcChain();
});
afterAll(() => usdc.close());

const STRANGER: Address = "0x00000000000000000000000000000000000000ff";

describe("the chain, asked about an authorization", () => {
  it("names the transaction by which it paid us, from any sender", async () => {
    const payment = await usdc.sign();
    expect(await usdc.paymentChain.isUsed(payment)).toBe(false);
    const hash = await usdc.carryOut(payment);
    expect(await usdc.paymentChain.isUsed(payment)).toBe(true);
    expect(await usdc.paymentChain.findTransfer(payment, new Date(Date.now() - 60_000))).toBe(hash);
  });

  it("takes no other transfer of the same transaction for it, nor another amount", async () => {
    const payment = await usdc.sign();
    await usdc.carryOut(payment);
    const since = new Date(Date.now() - 60_000);
    expect(await usdc.paymentChain.findTransfer({ ...payment, payTo: STRANGER }, since)).toBeNull();
    expect(await usdc.paymentChain.findTransfer({ ...payment, amount: 1n }, since)).toBeNull();
  });

  it("does not take a withdrawn one for a payment", async () => {
    const payment = await usdc.sign();
    await usdc.cancel(payment);
    expect(await usdc.paymentChain.isUsed(payment)).toBe(true);
    expect(await usdc.paymentChain.findTransfer(payment, new Date(0))).toBeNull();
  });

  it("counts each transfer for the one authorization that made it, however many a transaction carries out", async () => {
    const paying = await usdc.sign();
    // The payer signs the same nonce twice. The token carries out the transfer to the stranger.
    const elsewhere = await usdc.sign({ payTo: STRANGER });
    const claimed = await usdc.sign({ nonce: elsewhere.nonce });
    const hash = await usdc.send(
      roleAccounts().payer.address,
      usdc.chain.contracts.smartWallet,
      encodeFunctionData({
        abi: smartWalletAbi,
        functionName: "executeBatch",
        args: [
          [elsewhere, paying].map((payment) => ({ to: usdc.usdc, value: 0n, data: carryingOut(payment) })),
        ],
      }),
    );
    const since = new Date(Date.now() - 60_000);
    expect(await usdc.paymentChain.isUsed(claimed)).toBe(true);
    expect(await usdc.paymentChain.findTransfer(claimed, since)).toBeNull();
    expect(await usdc.paymentChain.findTransfer(paying, since)).toBe(hash);
  });
});
