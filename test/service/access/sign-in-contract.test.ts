import { createPublicClient, createTestClient, hashMessage, http, RpcRequestError } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { roleAccounts } from "../../../devnet/accounts.ts";
import { createContractSignatures } from "../../../service/access/sign-in.ts";
import { startTestChain, type TestChain } from "../../support/anvil-testkit/chain.ts";
import { SIGNER } from "./signed-in.ts";

let chain: TestChain;
beforeAll(async () => {
  chain = await startTestChain();
});
afterAll(() => chain.stop());

const askedAt = (url: string) =>
  createContractSignatures(createPublicClient({ transport: http(url, { retryCount: 0 }) }));

it("a deployed contract wallet accepts what its owner signed and nothing else", async () => {
  const isValid = askedAt(chain.rpcUrl);
  const message = "Sign in to Agent Health.";
  const hash = hashMessage(message);
  const owners = await roleAccounts().payer.signMessage({ message });
  const strangers = await SIGNER.signMessage({ message });
  const { smartWallet, keeperTarget1 } = chain.contracts;
  const answers = [
    await isValid({ address: smartWallet, hash, signature: owners }),
    await isValid({ address: smartWallet, hash, signature: strangers }),
    await isValid({ address: smartWallet, hash: hashMessage("another"), signature: owners }),
  ];
  expect(answers).toEqual([true, false, false]);
  // A contract that reverts, and an account without code.
  expect(await isValid({ address: keeperTarget1, hash, signature: owners })).toBe(false);
  expect(await isValid({ address: SIGNER.address, hash, signature: owners })).toBe(false);
});

it.each([
  ["the precompile that echoes the call", "0x0000000000000000000000000000000000000004", null],
  ["a contract that echoes the call", `0x${"c0".repeat(20)}`, "0x3660006000373660006000f3"],
  [
    "a contract that pads the magic value with anything but zeros",
    `0x${"c1".repeat(20)}`,
    `0x7f1626ba7e${"01".repeat(28)}60005260206000f3`,
  ],
  [
    "a contract that answers four bytes",
    `0x${"c2".repeat(20)}`,
    `0x7f1626ba7e${"00".repeat(28)}60005260046000f3`,
  ],
] as const)("%s accepts no signature", async (_name, address, code) => {
  const client = createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) });
  if (code !== null) await client.setCode({ address, bytecode: code });
  const answer = await askedAt(chain.rpcUrl)({ address, hash: hashMessage("x"), signature: "0x00" });
  expect(answer).toBe(false);
});

it("a node that does not answer is a failure of ours, not a refusal of the signature", async () => {
  const asked = askedAt("http://127.0.0.1:1")({
    address: SIGNER.address,
    hash: hashMessage("x"),
    signature: "0x12",
  });
  await expect(asked).rejects.toMatchObject({ code: "node-unavailable", status: 503 });
});

it("a node that lags behind the chain is a failure of ours as well", async () => {
  const behind = new RpcRequestError({
    body: {},
    url: chain.rpcUrl,
    error: { code: -32000, message: "header not found" },
  });
  const fail = () => Promise.reject(behind);
  const asked = createContractSignatures({ getCode: fail, call: fail });
  await expect(
    asked({ address: SIGNER.address, hash: hashMessage("x"), signature: "0x12" }),
  ).rejects.toMatchObject({
    code: "node-unavailable",
  });
});
