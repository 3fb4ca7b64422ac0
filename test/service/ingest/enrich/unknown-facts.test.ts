import { type Address, getContractAddress, numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EnrichWorld, enrichAll, rowsOf } from "./enrich-world.ts";
import {
  contextWith,
  createFactsWorld,
  FUNDER,
  factsOf,
  ignorant,
  otterscanOf,
  PAYEE,
  payTokens,
  readAll,
  SILENT,
  WALLET,
} from "./facts-world.ts";

let world: EnrichWorld;

beforeAll(async () => {
  ({ world } = await createFactsWorld());
  await enrichAll(world);
});
afterAll(() => world.close());

/** Moves the chain's time and what is enriched of it. */
async function wait(seconds: number): Promise<void> {
  await world.chain.moveTime(seconds);
  await world.chain.succeed(WALLET);
  await world.index();
  await enrichAll(world);
}

async function meet(account: Address): Promise<void> {
  await payTokens(world, account);
  await world.index();
  await enrichAll(world);
}

describe("accounts without known facts", () => {
  test("is stored, and not asked for again before ten minutes of chain time; then nothing changes where nothing is learnt", async () => {
    const asked: Address[] = [];
    await readAll(contextWith(world, ignorant(asked)));
    expect(asked).toHaveLength(4);
    await readAll(contextWith(world, ignorant(asked)));
    await wait(500);
    await readAll(contextWith(world, ignorant(asked)));
    expect(asked).toHaveLength(4);
    await wait(120);
    asked.length = 0;
    const before = await rowsOf(world, "account_fact");
    await readAll(contextWith(world, ignorant(asked)));
    expect(asked.toSorted()).toEqual([SILENT, WALLET, PAYEE].toSorted());
    expect(await rowsOf(world, "account_fact")).toEqual(before);
  });

  test("of a wallet that was registered before it was funded is found once it is, behind many calls without value", async () => {
    const early: Address = `0x${"ea".repeat(20)}`;
    await meet(early);
    await readAll(contextWith(world, otterscanOf(world)));
    expect(await factsOf(world, early)).toMatchObject({ first_funder: null });
    for (let call = 0; call < 12; call += 1) await world.chain.send({ from: WALLET, to: early });
    await world.chain.send({ from: FUNDER, to: early, value: 10n ** 18n });
    await wait(700);
    await readAll(contextWith(world, otterscanOf(world)));
    expect(await factsOf(world, early)).toMatchObject({ first_funder: FUNDER });
  });

  test("of a contract that was dealt with before it was deployed is found, and stays", async () => {
    const { rpc, contracts } = world.chain;
    const early: Address = `0x${"c0".repeat(20)}`;
    await meet(early);
    await readAll(contextWith(world, null));
    expect(await factsOf(world, early)).toMatchObject({ has_code: false });
    await rpc.request("anvil_setCode", early, await rpc.request("eth_getCode", contracts.usdc, "latest"));
    await wait(700);
    await readAll(contextWith(world, null));
    expect(await factsOf(world, early)).toMatchObject({ has_code: true });
  });

  test("gives way to an own creation", async () => {
    const { rpc } = world.chain;
    const nonce = BigInt((await rpc.request("eth_getTransactionCount", WALLET, "latest")) as string);
    const created = getContractAddress({ from: WALLET, nonce: nonce + 1n }).toLowerCase() as Address;
    await meet(created);
    await readAll(contextWith(world, otterscanOf(world)));
    expect(await factsOf(world, created)).toMatchObject({ has_code: false, creator: null });
    await rpc.request("anvil_impersonateAccount", WALLET);
    const fees = { gas: numberToHex(300_000n), maxFeePerGas: numberToHex(10n ** 11n) };
    await rpc.request("eth_sendTransaction", { from: WALLET, data: "0x600160005360016000f3", ...fees });
    await world.chain.tick();
    await world.index();
    await enrichAll(world);
    expect(await factsOf(world, created)).toMatchObject({ has_code: true, creator: WALLET, source: "index" });
    const waiting = (await rowsOf(world, "pending_fact")).map(({ address }) => address);
    expect(waiting).not.toContain(created);
  });
});
