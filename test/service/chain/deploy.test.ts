import { afterAll, beforeAll, expect, test } from "vitest";
import { deployOracle, oracleFault, roleFaults } from "../../../service/chain/deploy.ts";
import { type GasChain, startGasChain } from "../../contracts/support/gas-chain.ts";

let chain: GasChain;

beforeAll(async () => {
  chain = await startGasChain();
});

afterAll(async () => {
  await chain.stop();
});

test("a deployment names its address, block and transaction, and gives the deployer no role", async () => {
  const { publicClient, oracle, deployer } = chain;
  const receipt = await publicClient.getTransactionReceipt({ hash: oracle.transactionHash });
  expect(receipt.contractAddress?.toLowerCase()).toBe(oracle.address.toLowerCase());
  expect(Number(receipt.blockNumber)).toBe(oracle.startBlock);
  const roles = chain.roles;
  expect(await roleFaults(publicClient, oracle.address, roles)).toEqual([]);
  expect([roles.owner, roles.publisher, ...roles.signers]).not.toContain(deployer.account.address);
});

test("each role that differs from the expected one is named", async () => {
  const { publicClient, oracle, roles, deployer } = chain;
  const stranger = deployer.account.address;
  const expected = {
    owner: stranger,
    publisher: stranger,
    signers: [],
    identityRegistry: stranger,
    requestFee: 7n,
  };
  expect(await roleFaults(publicClient, oracle.address, expected)).toEqual([
    `owner is ${roles.owner}, expected ${stranger}`,
    `publisher is ${roles.publisher}, expected ${stranger}`,
    `identity registry is ${roles.identityRegistry}, expected ${stranger}`,
    "request fee is 0, expected 7",
    `signers are ${roles.signers.join(", ")}, expected `,
  ]);
});

test("an oracle of this version has no fault, one with another domain is named", async () => {
  const { publicClient, oracle } = chain;
  const { address } = oracle;
  expect(await oracleFault(publicClient, { chainId: 31_337, address })).toBeNull();
  expect(await oracleFault(publicClient, { chainId: 1, address })).toMatch(
    new RegExp(`^oracle ${address} is of another version: domain separator 0x.{64}, expected 0x.{64}$`),
  );
});

test("a registry without code is refused before anything is sent", async () => {
  const { publicClient, deployer, roles } = chain;
  const before = await publicClient.getTransactionCount({ address: deployer.account.address });
  const identityRegistry = roles.owner;
  await expect(
    deployOracle({ ...roles, identityRegistry, walletClient: deployer, publicClient }),
  ).rejects.toThrow(`identity registry: there is no contract at ${identityRegistry}`);
  expect(await publicClient.getTransactionCount({ address: deployer.account.address })).toBe(before);
});
