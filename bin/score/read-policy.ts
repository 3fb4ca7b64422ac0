import { readFileSync } from "node:fs";
import type { Policy } from "../../service/model/score/policy-shape.ts";

/** Reads a policy from a JSON file shaped like another one; throws with every fault found when it is not a policy. */
export function readPolicy(path: string, like: Policy): Policy {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path} cannot be read as JSON: ${String(error)}`, { cause: error });
  }
  const faults = [...shapeFaults(content, like, "policy")];
  // Sums say nothing about a policy whose shape is wrong already.
  if (faults.length === 0) faults.push(...sumFaults(content as Policy));
  if (faults.length > 0)
    throw new Error(`${path} is not a policy:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
  return content as Policy;
}

/** Every place where a value's shape differs from another's: other members, other kinds, invalid numbers, curves that turn back. */
function* shapeFaults(given: unknown, like: unknown, path: string): Generator<string> {
  if (Array.isArray(like)) {
    yield* listFaults(given, like, path);
    return;
  }
  if (typeof like === "object" && like !== null) {
    yield* memberFaults(given, like, path);
    return;
  }
  const fits = typeof like === "number" ? Number.isFinite(given) : typeof given === typeof like;
  if (!fits) yield `${path}: expected a ${typeof like}, got ${shown(given)}`;
  else if (typeof like === "number") yield* signFaults(Number(given), like, path);
}

/** A divisor that becomes 0 and an effect that becomes a reward are no tuning: every number keeps its sign. */
function* signFaults(given: number, like: number, path: string): Generator<string> {
  if (like > 0 && given <= 0) yield `${path}: expected a number above 0, got ${given}`;
  if (like < 0 && given > 0) yield `${path}: expected a number of at most 0, got ${given}`;
  if (like === 0 && given < 0) yield `${path}: expected a number of at least 0, got ${given}`;
}

function* memberFaults(given: unknown, like: object, path: string): Generator<string> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    yield `${path}: expected an object, got ${shown(given)}`;
    return;
  }
  const members = new Map<string, unknown>(Object.entries(given));
  for (const [name, member] of Object.entries(like)) {
    if (!members.has(name)) yield `${path}.${name}: missing`;
    else yield* shapeFaults(members.get(name), member, `${path}.${name}`);
    members.delete(name);
  }
  for (const name of members.keys()) yield `${path}.${name}: not a member of a policy`;
}

function* listFaults(given: unknown, like: readonly unknown[], path: string): Generator<string> {
  if (!Array.isArray(given) || given.length === 0) {
    yield `${path}: expected a list that is not empty, got ${shown(given)}`;
    return;
  }
  const [first] = like;
  if (isAnchor(first)) {
    yield* curveFaults(given, path);
    return;
  }
  for (const [place, item] of given.entries()) yield* shapeFaults(item, first, `${path}[${place}]`);
}

function isAnchor(value: unknown): value is readonly [number, number] {
  return (
    Array.isArray(value) && value.length === 2 && value.every((coordinate) => Number.isFinite(coordinate))
  );
}

function* curveFaults(anchors: readonly unknown[], path: string): Generator<string> {
  let before = Number.NEGATIVE_INFINITY;
  for (const [place, anchor] of anchors.entries()) {
    if (!isAnchor(anchor)) {
      yield `${path}[${place}]: expected two numbers, got ${shown(anchor)}`;
      continue;
    }
    if (anchor[0] <= before) yield `${path}[${place}]: expected an x above ${before}, got ${anchor[0]}`;
    before = anchor[0];
  }
}

function* sumFaults(policy: Policy): Generator<string> {
  const dimensions = policy.dimensionPercent.D1 + policy.dimensionPercent.D2;
  if (dimensions !== 100) yield `policy.dimensionPercent: expected a sum of 100, got ${dimensions}`;
  for (const name of ["D1", "D2"] as const) {
    const rules = policy.features.filter(({ dimension }) => dimension === name);
    const sum = rules.reduce((total, { weightPercent }) => total + weightPercent, 0);
    if (sum !== 100) yield `policy.features: expected the weights of ${name} to add up to 100, got ${sum}`;
  }
  const names = policy.features.map(({ name }) => name);
  for (const name of new Set(names)) {
    const times = names.filter((other) => other === name).length;
    if (times > 1) yield `policy.features: ${name} is listed ${times} times`;
  }
  const grades = [policy.grades.A, policy.grades.B, policy.grades.C, policy.grades.D, policy.grades.E];
  if (grades.some((points, place) => points >= (grades[place - 1] ?? 101)))
    yield `policy.grades: expected falling points of at most 100, got ${grades.join(", ")}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
