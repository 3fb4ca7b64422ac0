import { setTimeout as sleep } from "node:timers/promises";
import { type Address, zeroAddress } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../sender/sender-world.ts";
import { createEnrolmentWorld, type EnrolmentWorld } from "./enrolment-world.ts";
import { testWallet } from "./publish-world.ts";

const [A, B, C] = [1, 2, 3].map(testWallet) as [Address, Address, Address];

let world: EnrolmentWorld;
beforeEach(async () => {
  world = await createEnrolmentWorld();
});
afterEach(() => world.destroy());

const requested = async () => (await world.requests()).map(({ args }) => args.wallet.toLowerCase());
const states = async () => (await world.enrolments()).map(({ wallet, state }) => [wallet, state]);

test("wallets that were asked for are requested once each, with the oracle's fee, and followed for good", async () => {
  await world.setFee(77n);
  world.startSender();
  await world.ask(A, B, A);
  await world.settle();
  expect(await states()).toEqual([
    [A, "followed"],
    [B, "followed"],
  ]);
  const events = await world.requests();
  expect(events.map(({ args }) => [args.wallet.toLowerCase(), args.requester, args.fee])).toEqual([
    [A, world.sender, 77n],
    [B, world.sender, 77n],
  ]);
  await world.ask(A);
  await world.settle();
  expect(await requested()).toEqual([A, B]);
});

test("a wallet that is followed already is not asked for", async () => {
  await world.requestByStranger(A);
  await world.sync();
  await world.ask(A);
  expect(await world.enrolments()).toEqual([]);
});

test("a wallet that another account has followed meanwhile is not requested again", async () => {
  world.startSender();
  await world.ask(A);
  await world.requestByStranger(A);
  await world.settle();
  expect(await states()).toEqual([[A, "followed"]]);
  expect(await requested()).toEqual([A]);
  expect(await world.rows()).toEqual([]);
});

test("a day's requests beyond the cap wait for the next day", async () => {
  world.startSender();
  for (const [payer, wallet] of [A, B, C].entries()) await world.askAs(`key:${payer}`, [wallet]);
  expect(await world.round({ perDay: 2 })).toMatchObject({ sent: [A, B], held: "day" });
  expect(await world.round({ perDay: 2 })).toMatchObject({ sent: [], held: "day" });
  const tomorrow = new Date(Date.now() + 86_400_000);
  expect(await world.round({ perDay: 2 }, tomorrow)).toMatchObject({ sent: [C], held: null });
});

test("one payer's flood takes half of the day, and a later payer's request goes the same day", async () => {
  world.startSender();
  const flood = Array.from({ length: 12 }, (_, index) => testWallet(100 + index));
  await world.askAs("wallet:0xf1", flood);
  expect(await world.round({ perDay: 6 })).toMatchObject({ sent: flood.slice(0, 3), held: "day" });
  expect(await world.round({ perDay: 6 })).toMatchObject({ sent: [], held: "day" });
  await world.askAs("key:late", [A, B]);
  expect(await world.round({ perDay: 6 })).toMatchObject({ sent: [A, B], held: "day" });
});

test("payers take turns, the one with the fewest requests of the day first", async () => {
  await world.askAs("key:1", [A, B]);
  await world.askAs("key:2", [C]);
  expect(await world.round({ perDay: 100 })).toMatchObject({ sent: [A, C, B], held: null });
});

test("a payer has 200 requests waiting at most, and others are stored beside them", async () => {
  const wallets = Array.from({ length: 205 }, (_, index) => testWallet(1_000 + index));
  await world.askAs("key:1", wallets);
  await world.askAs("key:2", [A]);
  expect(await world.enrolments()).toHaveLength(201);
});

test("a fee above the bound is not paid, and what waits goes once it has fallen", async () => {
  world.startSender();
  await world.ask(A);
  await world.setFee(2n * 10n ** 15n);
  expect(await world.round()).toMatchObject({ sent: [], held: "fee" });
  expect(await world.rows()).toEqual([]);
  await world.setFee(0n);
  await world.settle();
  expect(await requested()).toEqual([A]);
});

test("a fee that changes after the request was queued costs one failed try, and no coin", async () => {
  await world.ask(A);
  await world.round();
  await world.setFee(5n);
  world.startSender();
  await world.settle();
  const events = await world.requests();
  expect(events.map(({ args }) => args.fee)).toEqual([5n]);
  expect((await world.rows()).map(({ state, value }) => [state, value])).toEqual([
    ["failed", 0n],
    ["mined", 5n],
  ]);
  expect(await world.enrolments()).toMatchObject([{ state: "followed", attempts: 2 }]);
});

test("while the oracle is paused requests are tried again, and arrive when it is not", async () => {
  await world.asOwner("setPaused", [true]);
  world.startSender();
  await world.ask(A);
  await until(
    async () => {
      await world.round();
      const [row] = await world.enrolments();
      return row !== undefined && row.attempts >= 2 ? true : null;
    },
    () => "a second try",
  );
  await world.asOwner("setPaused", [false]);
  await world.settle();
  expect(await states()).toEqual([[A, "followed"]]);
  expect(await requested()).toEqual([A]);
});

test("the zero address is refused and delays no other wallet", async () => {
  world.startSender();
  await world.ask(zeroAddress, A);
  await world.settle();
  expect(await states()).toEqual([
    [zeroAddress, "refused"],
    [A, "followed"],
  ]);
});

test("a request that a reorg takes out is sent again by itself, and is still one", async () => {
  world.startSender();
  await world.ask(A);
  await until(
    async () => {
      await world.round();
      return (await requested()).length === 1 ? true : null;
    },
    () => "the request to be mined",
  );
  await world.automine(false);
  await world.mine(2);
  await world.reorg(4);
  await world.round();
  expect([await requested(), await states()]).toEqual([[], [[A, "sent"]]]);
  await world.automine(true);
  await world.settle();
  expect(await requested()).toEqual([A]);
  expect(await world.rows()).toHaveLength(1);
  expect(await states()).toEqual([[A, "followed"]]);
});

test("rounds of several processes, and a sender that dies between them, request each wallet once", async () => {
  const wallets = Array.from({ length: 8 }, (_, number) => testWallet(10 + number));
  await world.ask(...wallets);
  const first = world.startSender();
  await world.sync();
  await Promise.all([1, 2, 3].map(() => world.roundWithoutSync()));
  await sleep(60);
  await first.stop();
  world.startSender();
  await world.settle();
  expect((await requested()).toSorted()).toEqual(wallets);
});
