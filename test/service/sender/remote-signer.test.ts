import {
  hashMessage,
  numberToHex,
  parseTransaction,
  recoverAddress,
  serializeSignature,
  zeroAddress,
} from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verdictDigest, verdictTypedData } from "../../../service/chain/verdict-codec.ts";
import { remoteSigner } from "../../../service/sender/remote-signer.ts";
import { type ScriptedWeb3Signer, startScriptedWeb3Signer } from "../../support/scripted-web3signer.ts";

const KEY = numberToHex(0x51, { size: 32 });
const local = privateKeyToAccount(KEY);
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
let signer: ScriptedWeb3Signer;

beforeEach(async () => {
  signer = await startScriptedWeb3Signer(KEY, local.address);
});
afterEach(() => signer.stop());

const account = (limits = { timeoutMs: 1_000, retries: 0 }, url = signer.url) =>
  remoteSigner({ url, identifier: local.address, ...limits }, local.address);

const transfer = {
  type: "eip1559",
  chainId: 31_337,
  nonce: 3,
  to: zeroAddress,
  data: "0x1234",
  value: 7n,
  gas: 21_000n,
  maxFeePerGas: 10n,
  maxPriorityFeePerGas: 1n,
} as const;

const verdict = verdictTypedData(
  { chainId: 31_337, address: zeroAddress },
  {
    escrow: zeroAddress,
    jobId: 1n,
    deliverable: numberToHex(1, { size: 32 }),
    specHash: numberToHex(2, { size: 32 }),
    decision: 1,
    score: 90,
    confidenceBps: 9_000,
    evidenceHash: numberToHex(3, { size: 32 }),
    issuedAt: 1_000n,
    deadline: 2_000n,
  },
);

describe("a remote signer", () => {
  test("signs transactions, typed data and messages as the key itself does", async () => {
    expect(await account().signTransaction(transfer)).toBe(await local.signTransaction(transfer));
    expect(await account().signTypedData(verdict)).toBe(await local.signTypedData(verdict));
    expect(await account().signMessage({ message: "hello" })).toBe(
      await local.signMessage({ message: "hello" }),
    );
    const signed = await account().signTransaction({ ...transfer, nonce: 0 });
    expect(parseTransaction(signed)).toMatchObject({ value: 7n, data: "0x1234" });
    const digest = verdictDigest({ chainId: 31_337, address: zeroAddress }, verdict.message);
    const signature = await account().signTypedData(verdict);
    expect(await recoverAddress({ hash: digest, signature })).toBe(local.address);
  });

  test("gets a name and password as basic authentication, and a path before its own", async () => {
    await account(undefined, signer.url.replace("http://", "http://me:p%40ss@")).signMessage({
      message: "x",
    });
    expect(signer.asked[0]?.authorization).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
    await expect(
      account(undefined, `${signer.url}/elsewhere/`).signMessage({ message: "x" }),
    ).rejects.toThrow("404");
  });

  test.each([
    ["another key's or another text's signature", { kind: "lies" }, "lied", 5_000],
    ["no signature", { kind: "answers", text: "signed, trust me" }, "lied", 5_000],
    ["zeros", { kind: "answers", text: numberToHex(0, { size: 65 }) }, "lied", 5_000],
    ["an endless text", { kind: "answers", text: "0".repeat(100_000) }, "lied", 5_000],
    ["that it does not know the key", { kind: "fails", status: 404 }, "refused", 5_000],
    ["that it may not", { kind: "fails", status: 403 }, "refused", 5_000],
    ["a fault of its own", { kind: "fails", status: 500 }, "unreachable", 5_000],
    ["nothing in time", { kind: "slow", ms: 5_000 }, "unreachable", 150],
  ] as const)("that answers %s signs nothing", async (_what, mood, reason, timeoutMs) => {
    signer.be(mood);
    const failure = account({ timeoutMs, retries: 0 }).signTransaction(transfer);
    await expect(failure).rejects.toMatchObject({ name: "SignerFailure", reason });
    await expect(failure).rejects.not.toThrow(signer.url);
  });

  test("whose signature chains would refuse signs nothing", async () => {
    const { r, s, v } = await sign({ hash: hashMessage("x"), privateKey: KEY });
    const twin = { r, s: numberToHex(order - BigInt(s), { size: 32 }), v: v === 27n ? 28n : 27n };
    const text = serializeSignature(twin);
    expect(await recoverAddress({ hash: hashMessage("x"), signature: text })).toBe(local.address);
    signer.be({ kind: "answers", text });
    await expect(account().signMessage({ message: "x" })).rejects.toMatchObject({ reason: "lied" });
  });

  test("is asked again where it failed, so often and no more, and never where it refused", async () => {
    signer.be({ kind: "fails", status: 503 });
    await expect(account({ timeoutMs: 500, retries: 2 }).signMessage({ message: "x" })).rejects.toThrow(
      "503",
    );
    expect(signer.asked).toHaveLength(3);
    signer.be({ kind: "fails", status: 403 });
    await expect(account({ timeoutMs: 500, retries: 2 }).signMessage({ message: "x" })).rejects.toThrow(
      "403",
    );
    expect(signer.asked).toHaveLength(4);
  });

  test("that is gone is reported without its address", async () => {
    const gone = account(undefined, "http://user:hunter2@127.0.0.1:1");
    await expect(gone.signMessage({ message: "x" })).rejects.toThrow(/^the remote signer does not answer$/);
  });
});
