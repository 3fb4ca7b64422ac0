import {
  ANY_METHOD,
  act,
  attacker,
  CHEAP_CALL_GAS,
  DEPLOY_GAS,
  oldVenues,
  ownContract,
  type Stage,
  type Staged,
} from "./attack.ts";
import { GAS, type Task, work } from "./tasks.ts";

/** Calls of established contracts, 40 % of which fail. */
export function failures(stage: Stage): Staged {
  const wallet = attacker(stage);
  const tasks = oldVenues(stage, 8).map((venue) => work(venue, ANY_METHOD));
  act(stage, wallet, { calls: 500, days: 90, tasks, failure: 0.4 });
  return { wallets: [wallet], extraGas: 0 };
}

/** Successes show in the logs of the contracts behind the own one; failures leave a call without a trace. */
export function hiddenFailures(stage: Stage): Staged {
  const { world, random } = stage;
  const wallet = attacker(stage);
  const own = ownContract(stage, { creator: wallet, existedAt: world.start });
  const tasks = oldVenues(stage, 8).map(
    ({ address }): Task =>
      () =>
        random.chance(0.4)
          ? { to: own.address, selector: ANY_METHOD, effect: "none", gas: 70_000 }
          : { to: own.address, selector: ANY_METHOD, effect: "other", emitters: [address], gas: GAS.call },
  );
  act(stage, wallet, { calls: 500, days: 90, tasks });
  return { wallets: [wallet], extraGas: DEPLOY_GAS };
}

/** Failures, and then a flood of sound calls. */
export function dilution(stage: Stage): Staged {
  const wallet = attacker(stage);
  const tasks = oldVenues(stage, 8).map((venue) => work(venue, ANY_METHOD));
  act(stage, wallet, { calls: 300, days: 60, tasks, failure: 0.5 });
  act(stage, wallet, {
    calls: 5_000,
    days: 10,
    tasks: oldVenues(stage, 1).map((one) => work(one, "0x87654321", CHEAP_CALL_GAS)),
  });
  return { wallets: [wallet], extraGas: 0 };
}
