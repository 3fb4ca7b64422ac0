import { eq } from "drizzle-orm";
import { bytesToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { senderTransaction } from "../../../service/db/tables/publish.ts";
import { keystoreEntropy, openKeystore, writeKeystore } from "../../../service/sender/keystore.ts";
import { remoteSigner } from "../../../service/sender/remote-signer.ts";
import { type ScriptedWeb3Signer, startScriptedWeb3Signer } from "../../support/scripted-web3signer.ts";
import { localAccount } from "./sender-under-test.ts";
import { createSenderWorld, type SenderWorld, until } from "./sender-world.ts";

const receiver = "0x00000000000000000000000000000000000a11ce";
const privateKey = bytesToHex(localAccount(1).getHdKey().privateKey ?? new Uint8Array());
let world: SenderWorld;
let signer: ScriptedWeb3Signer;

beforeEach(async () => {
  world = await createSenderWorld();
  await world.automine(true);
  signer = await startScriptedWeb3Signer(privateKey, world.sender);
});
afterEach(async () => {
  await world.destroy();
  await signer.stop();
});

test("a key in a keystore sends", async () => {
  const file = writeKeystore({ privateKey, password: "a password" }, keystoreEntropy(), 2);
  const opened = openKeystore(file, "a password");
  if (opened.kind !== "open") throw new Error(opened.fault);
  world.startSender({ account: privateKeyToAccount(opened.privateKey) });
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  await world.reach(id, "mined");
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
});

test("a remote signer that fails, lies and is slow delays its transactions; none is sent twice or wrong", async () => {
  const account = remoteSigner(
    { url: signer.url, identifier: world.sender, timeoutMs: 500, retries: 0 },
    world.sender,
  );
  const sender = world.startSender({ account });
  const unsigned = async (count: number) => {
    const text = await sender.registry.metrics();
    const shown = /kind="unsigned"\} (\d+)/.exec(text)?.[1];
    return Number(shown) >= count ? true : null;
  };
  signer.be({ kind: "fails", status: 500 });
  const first = await world.enqueue("pay-1", { to: receiver, value: 7n });
  await until(
    () => unsigned(1),
    () => "a signer that fails to be counted",
  );
  signer.be({ kind: "lies" });
  const second = await world.enqueue("pay-2", { to: receiver, value: 5n });
  await until(
    () => unsigned(3),
    () => "a signer that lies to be counted",
  );
  expect(await world.client.getTransactionCount({ address: world.sender })).toBe(0);
  signer.be({ kind: "slow", ms: 200 });
  await world.reach(first, "mined");
  const mined = await world.reach(second, "mined");
  expect(mined.nonce).toBe(1);
  expect(await world.client.getBalance({ address: receiver })).toBe(12n);
  expect(await world.client.getTransactionCount({ address: world.sender })).toBe(2);
});

test("never signs a forbidden call, with a nonce or without, and sends the next one", async () => {
  await world.automine(true);
  const planted = {
    state: "prepared",
    nonce: 0,
    gasLimit: 21_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 1n,
  } as const;
  const ids = [
    await world.enqueue("theft", { to: receiver, value: 5n }),
    await world.enqueue("planted", { to: receiver, value: 6n }),
  ];
  await world.db.update(senderTransaction).set(planted).where(eq(senderTransaction.reference, "planted"));
  const next = await world.enqueue("pay-1", { to: receiver, value: 7n });
  const sender = world.startSender({
    refuses: ({ value }) => (value === 7n ? null : "too much or too little"),
  });
  await world.reach(next, "mined");
  for (const id of ids)
    expect(await world.reach(id, "failed")).toMatchObject({
      failure: "forbidden",
      error: "too much or too little",
      hashes: [],
      raw: null,
    });
  expect(await sender.registry.metrics()).toContain('ahs_sender_failures_total{kind="forbidden"} 2');
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
});
