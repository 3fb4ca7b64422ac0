import type { Address } from "viem";

/** Users of an account, in pairs: the user's number and the Unix seconds of its last call. */
export type Users = Float64Array;

/** Calls of a user. */
export type Doings = {
  /** In pairs: the number of a counterparty and the calls to it. */
  readonly pairs: Uint32Array;
  /** All known calls, at least those of the pairs. */
  readonly total: number;
};

/**
 * Calls of users, with accounts as numbers: in a tenth of the memory of objects, and compared in a tenth of the time. Entries are added
 * and never change.
 */
export type UserLists = {
  readonly numbers: Map<Address, number>;
  /** Accounts by number. */
  readonly accounts: Address[];
  /** By the user's number; no entry where nothing is known. */
  readonly doings: (Doings | undefined)[];
  readonly marks: Marks;
};

/** Notes about accounts, by number, of the one judge that used them last. */
type Marks = {
  judge: object | null;
  /** Numbers given when the judge made its notes. */
  known: number;
  turn: number;
  /** The turn in which an account was marked as dealt with. */
  inside: Uint32Array;
  /** Twice the turn of a verdict, plus 1 if the user does not count. */
  verdicts: Uint32Array;
};

export function createUserLists(): UserLists {
  const marks = { judge: null, known: 0, turn: 0, inside: new Uint32Array(0), verdicts: new Uint32Array(0) };
  return { numbers: new Map(), accounts: [], doings: [], marks };
}

/** The number of an account, which gets one if it has none. */
export function numberOf({ numbers, accounts }: UserLists, account: Address): number {
  const known = numbers.get(account);
  if (known !== undefined) return known;
  const number = accounts.push(account) - 1;
  numbers.set(account, number);
  return number;
}

/**
 * Returns a function that counts the users of an account, up to a limit, that called since a moment in Unix seconds: not the account
 * itself, none of the owner's, and no captive ones, which make most of their calls to accounts that the wallet deals with.
 */
export function createUserJudge(
  lists: UserLists,
  of: {
    readonly dealtWith: readonly Address[];
    readonly owners: Iterable<Address>;
    readonly captiveShare: number;
    readonly since: number;
    readonly limit: number;
  },
): (account: Address, users: Users) => number {
  const { marks, doings, numbers } = lists;
  const judge = {};
  return (account, users) => {
    takeMarks(lists, judge, of);
    const { turn, verdicts, inside } = marks;
    const itself = numbers.get(account);
    let count = 0;
    for (let place = 0; place < users.length && count < of.limit; place += 2) {
      const user = users[place];
      const lastTime = users[place + 1];
      if (user === undefined || lastTime === undefined || lastTime < of.since || user === itself) continue;
      let verdict = verdicts[user];
      if (verdict !== 2 * turn && verdict !== 2 * turn + 1) {
        verdict = 2 * turn + (isCaptive(doings[user], inside, { turn, share: of.captiveShare }) ? 1 : 0);
        verdicts[user] = verdict;
      }
      if (verdict === 2 * turn) count += 1;
    }
    return count;
  };
}

/** Notes the accounts that a judge's wallet deals with and owns. Does nothing if its notes are the newest and no account got a number since. */
function takeMarks(
  { marks, numbers }: UserLists,
  judge: object,
  { dealtWith, owners }: { readonly dealtWith: readonly Address[]; readonly owners: Iterable<Address> },
): void {
  if (marks.judge === judge && marks.known === numbers.size) return;
  if (marks.inside.length < numbers.size) {
    // New arrays hold no notes, and turns begin anew.
    const size = Math.max(1_024, 2 * numbers.size);
    marks.inside = new Uint32Array(size);
    marks.verdicts = new Uint32Array(size);
    marks.turn = 0;
  }
  marks.judge = judge;
  marks.known = numbers.size;
  marks.turn += 1;
  const { inside, verdicts, turn } = marks;
  for (const account of dealtWith) {
    const number = numbers.get(account);
    if (number !== undefined) inside[number] = turn;
  }
  for (const account of owners) {
    const number = numbers.get(account);
    if (number !== undefined) verdicts[number] = 2 * turn + 1;
  }
}

/** Whether a user makes most of its calls to accounts marked in this turn; not, if none of its calls is known. */
function isCaptive(
  doings: Doings | undefined,
  inside: Uint32Array,
  { turn, share }: { readonly turn: number; readonly share: number },
): boolean {
  if (doings === undefined) return false;
  const { pairs, total } = doings;
  const bound = total * share;
  let sum = 0;
  let rest = total;
  for (let place = 0; place < pairs.length; place += 2) {
    const calls = pairs[place + 1] ?? 0;
    rest -= calls;
    if (inside[pairs[place] ?? 0] === turn) sum += calls;
    if (sum >= bound) return true;
    // The rest of its calls cannot make it captive any more.
    if (sum + rest < bound) return false;
  }
  return false;
}
