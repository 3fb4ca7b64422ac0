import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Address, encodeFunctionData, type Hex, parseAbi } from "viem";
import { connectChain } from "./chain.ts";
import { request } from "./request.ts";
import { contractOf, readUpFile, type UpFile } from "./up-file.ts";
import { type Receiver, startReceiver, type Verified } from "./webhook-receiver.ts";

/**
 * Watches a wallet of a running `npm start`: subscribes a receiver on loopback with the demo key, has the wallet put on the local
 * chain's sanctions list, shows the signed events that this brings, and takes the listing back.
 *
 *   npx node examples/watch-wallet.ts [--data-dir .ahs]
 *
 * Takes half a minute. Ends with 1 and a sentence where an event does not come, or does not verify.
 */

const LOCAL_CHAIN = 31_337;
const PATIENCE_MS = 120_000;
const POLL_MS = 200;
/** Of the first account of every development node, which owns the local list: everybody knows it, and it is worth nothing. */
const LIST_OWNER: Hex = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

const listAbi = parseAbi([
  "function addToSanctionsList(address[] newSanctions)",
  "function removeFromSanctionsList(address[] removeSanctions)",
]);

type Watch = {
  readonly up: UpFile;
  readonly wallet: Address;
  readonly receiver: Receiver;
};

type Subscription = {
  readonly subscription_id: string;
  readonly secret: string | null;
  readonly manage_token: string | null;
  readonly thresholds: readonly unknown[];
};

try {
  const { up, wallet } = readArguments();
  const { promise, resolve } = Promise.withResolvers<string>();
  const receiver = await startReceiver(promise);
  try {
    const watch = { up, wallet, receiver };
    const subscription = await subscribe(watch, resolve);
    await show(watch).finally(() => end(watch, subscription));
  } finally {
    receiver.close();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function readArguments(): { readonly up: UpFile; readonly wallet: Address } {
  const { values } = parseArgs({ options: { "data-dir": { type: "string", default: ".ahs" } } });
  const up = readUpFile(values["data-dir"]);
  const wallet = up.samples.keeper;
  if (wallet === undefined) throw new Error("The running chain has no keeper, an agent with a good score.");
  if (up.chain_id !== LOCAL_CHAIN)
    throw new Error(`Only the local chain's list can be changed, not ${up.chain_id}'s.`);
  return { up, wallet };
}

/** Buys 30 days of monitoring for 2 USD of the demo key's balance. */
async function subscribe(
  { up, wallet, receiver }: Watch,
  learn: (secret: string) => void,
): Promise<Subscription> {
  const query = new URLSearchParams({ webhook_url: receiver.url, score_below: "50" });
  const subscription = await call<Subscription>(up, `/alerts/subscribe/${wallet}?${query}`, {
    headers: { "X-API-Key": up.api_key },
  });
  if (subscription.secret === null) throw new Error("The secret is shown once, and was before.");
  learn(subscription.secret);
  say(`${wallet} is watched by subscription ${subscription.subscription_id}`);
  say(`thresholds: ${JSON.stringify(subscription.thresholds)}`);
  const [first] = await arrived(receiver, "subscription.test", 1);
  say(`the first delivery came, ${first?.headers["webhook-id"]}, and its signature verifies`);
  return subscription;
}

/** The effects of a listing on the chain and of its end; the listing is always taken back. */
async function show({ up, wallet, receiver }: Watch): Promise<void> {
  const chain = connectChain(up);
  const list = contractOf(up, "sanctionsList");
  const send = (functionName: "addToSanctionsList" | "removeFromSanctionsList") =>
    chain.send(LIST_OWNER, {
      to: list,
      data: encodeFunctionData({ abi: listAbi, functionName, args: [[wallet]] }),
    });
  say("the wallet is put on the local sanctions list …");
  await send("addToSanctionsList");
  try {
    const [changed] = await arrived(receiver, "ahs.grade_changed", 1);
    if (changed !== undefined) print(changed);
    for (const type of ["ahs.sanctions_hit", "ahs.threshold_breached"]) {
      const [delivery] = await arrived(receiver, type, 1);
      say(`${type} came too: ${delivery?.headers["webhook-id"]}`);
    }
  } finally {
    await send("removeFromSanctionsList");
    say("the listing is taken back …");
  }
  const [, back] = await arrived(receiver, "ahs.grade_changed", 2);
  say(`and the grade with it: ${JSON.stringify(back?.event.data.current)}`);
}

async function end({ up }: Watch, { subscription_id, manage_token }: Subscription): Promise<void> {
  await call(up, `/alerts/${subscription_id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${manage_token}` },
  });
  say("the subscription is ended");
}

function print({ headers, body, event }: Verified): void {
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"])
    say(`  ${name}: ${headers[name]}`);
  say(`  ${body}`);
  say(`the signature of this ${event.type} verifies`);
}

/** So many verified events of one type; throws where they do not come in time. */
async function arrived(receiver: Receiver, type: string, count: number): Promise<readonly Verified[]> {
  const deadline = performance.now() + PATIENCE_MS;
  while (receiver.of(type).length < count) {
    if (performance.now() > deadline)
      throw new Error(`${type} did not come within ${PATIENCE_MS / 1_000} s: is the worker up?`);
    await sleep(POLL_MS);
  }
  return receiver.of(type);
}

async function call<Answer>(up: UpFile, path: string, init: RequestInit): Promise<Answer> {
  const response = await request(up.base_url + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
