import {
  ANY_METHOD,
  type Attack,
  act,
  attacker,
  CHEAP_CALL_GAS,
  DEPLOY_GAS,
  hidden,
  ownContract,
  type Stage,
  type Staged,
  sendStrangers,
  TRANSFER_GAS,
} from "./attack.ts";
import { pay, payNative, work } from "./tasks.ts";
import { DAY } from "./world.ts";

/** Five wallets that pay each other; funded together by one account, or apart through exchanges, lately or two months before. */
export function ring(
  name: string,
  {
    what,
    days,
    funded,
  }: { readonly what: string; readonly days: number; readonly funded: "together" | "apart" | "aged" },
): Attack {
  const stage = (at: Stage): Staged => {
    const { world } = at;
    const funder = hidden(at);
    const options = {
      together: { funder },
      apart: { ageDays: days - world.days },
      aged: { ageDays: days - world.days + 60 },
    }[funded];
    const wallets = Array.from({ length: 5 }, () => attacker(at, options));
    for (const wallet of wallets) {
      const others = wallets.filter((other) => other !== wallet);
      const tasks = others.flatMap((other) => [
        pay(world.market, other, () => 5),
        payNative(world.market, other, () => 5),
      ]);
      act(at, wallet, { calls: 300, days, tasks });
    }
    return { wallets, extraGas: 5 * TRANSFER_GAS };
  };
  // An old account without a link to its owner is priced and has no bar.
  return funded === "aged"
    ? { name, what, bar: null, forges: true, stage }
    : { name, what, bar: "at_most_d", stage };
}

/** Calls in turn of twenty contracts of the attacker's making. */
export function freshContracts(
  name: string,
  { what, by, aged }: { readonly what: string; readonly by: "itself" | "another"; readonly aged: boolean },
): Attack {
  const stage = (at: Stage): Staged => {
    const { world } = at;
    const wallet = attacker(at);
    const creator = by === "itself" ? wallet : hidden(at);
    const existedAt = world.start + (world.days - 61 - (aged ? 60 : 0)) * DAY;
    const contracts = Array.from({ length: 20 }, () => ownContract(at, { creator, existedAt }));
    act(at, wallet, {
      calls: 300,
      days: 60,
      tasks: contracts.map((one) => work(one, ANY_METHOD, CHEAP_CALL_GAS)),
    });
    return { wallets: [wallet], extraGas: 20 * DEPLOY_GAS };
  };
  return aged ? { name, what, bar: null, forges: true, stage } : { name, what, bar: "at_most_d", stage };
}

/** Calls of contracts that only the attacker's own strangers use; they act so often elsewhere as well. */
export function sybilUsers(stage: Stage, { elsewhere }: { readonly elsewhere: number }): Staged {
  const creator = hidden(stage);
  // A day before the first call: what they are credited, their users make.
  const existedAt = stage.world.start + (stage.world.days - 61) * DAY;
  const contracts = Array.from({ length: 10 }, () => ownContract(stage, { creator, existedAt }));
  const wallet = attacker(stage);
  act(stage, wallet, {
    calls: 300,
    days: 60,
    tasks: contracts.map((one) => work(one, ANY_METHOD, CHEAP_CALL_GAS)),
  });
  const places = contracts.map(({ address }) => address);
  const extraGas = sendStrangers(stage, { strangers: 10, places, callsEach: 60, elsewhereEach: elsewhere });
  return { wallets: [wallet], extraGas: extraGas + 10 * DEPLOY_GAS };
}
