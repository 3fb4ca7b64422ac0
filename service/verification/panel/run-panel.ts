import { ANSWER_SHAPES, parseBallot, parseCritique, parseSynthesis } from "./answers.ts";
import { askGenerators, askOrReuse, isRefusal, type PanelDeps, type RoleResult } from "./ask-role.ts";
import { assembleOutcome, inputOfRun, type RunResults, type Unasked } from "./assemble-outcome.ts";
import { describeOverflow } from "./check-context.ts";
import { checkOutput } from "./check-output.ts";
import { splitCriteria } from "./criteria.ts";
import type { Block } from "./fence.ts";
import { thresholdOf, VOTING } from "./policy.ts";
import { answerBlock, caseBlocks, orderBlocks } from "./prompts.ts";
import { nextRole, tally } from "./tally.ts";
import { GENERATOR_ROLES, type PanelCase, type PanelOutcome } from "./types.ts";

/**
 * Runs the panel: four generators at once, the critic, the synthesiser, and then the tally, which alone decides. With an early stop, critic
 * and synthesiser are asked only if they can change its verdict. failed: the texts do not fit into a model, found before any call, or too
 * few roles answer. Rejects with the signal's reason, and with the errors of `begin` and
 * `keep`; no question is open then.
 */
export async function runPanel(panelCase: PanelCase, deps: PanelDeps): Promise<PanelOutcome> {
  deps.signal.throwIfAborted();
  const criteria = splitCriteria(panelCase.acceptanceCriteria);
  const ids = criteria.map(({ id }) => id);
  const { domain } = thresholdOf(panelCase.domain);
  const blocks = caseBlocks(panelCase, criteria);
  const overflow = describeOverflow({ domain, blocks }, deps.settings);
  if (overflow !== null) return { kind: "failed", message: overflow, retryable: false };

  const asking = askGenerators(deps, (role) => ({
    role,
    domain,
    blocks: orderBlocks(blocks, role),
    shape: ANSWER_SHAPES.ballot,
    parse: (value) => parseBallot(value, ids),
  }));
  // Runs while the models work.
  const checks = checkOutput(panelCase, criteria);
  const generators = await asking;
  const results = Object.values(generators);
  // The tally would fail anyway, so critic and synthesiser are not paid for.
  const valid = results.filter(({ answer }) => answer.kind === "answer");
  if (valid.length < VOTING.majority || results.some(({ isTooLong }) => isTooLong)) return failureOf(results);

  const known = { panelCase, criteria, blocks, settings: deps.settings, generators, checks };
  const ballots = GENERATOR_ROLES.flatMap((role) => answerBlocks(`ballot_${role}`, generators[role]));
  const noCritic = unasked({ ...known, critic: NOT_YET, synthesiser: NOT_YET }, "critic");
  const critic =
    noCritic ??
    (await askOrReuse(deps, {
      role: "critic",
      domain,
      shape: ANSWER_SHAPES.critique,
      parse: parseCritique,
      blocks: [...blocks, ...ballots],
    }));

  const noSynthesis = unasked({ ...known, critic, synthesiser: NOT_YET }, "synthesiser");
  const synthesiser =
    noSynthesis ??
    (await askOrReuse(deps, {
      role: "synthesiser",
      domain,
      shape: ANSWER_SHAPES.synthesis,
      blocks: [...blocks, ...ballots, ...answerBlocks("critique", critic)],
      parse: (value) => parseSynthesis(value, ids),
    }));
  return assembleOutcome({ ...known, critic, synthesiser }) ?? failureOf([...results, critic]);
}

const NOT_YET: Unasked = { record: null, answer: { kind: "not_asked", reason: "not asked yet" } };

/** Why a role is not asked; null if it has to be. After a missing critique the synthesiser has nothing to weigh. */
function unasked(results: RunResults, role: "critic" | "synthesiser"): Unasked | null {
  const input = inputOfRun(results);
  const isLost = role === "synthesiser" && input.critique.kind === "abstained";
  if (!isLost && (!results.settings.earlyStop || nextRole(input) === role)) return null;
  const outcome = tally(input);
  const verdict = outcome.kind === "decided" ? outcome.verdict : null;
  const why =
    isLost || verdict === null
      ? "there is no critique"
      : verdict === "ALLOW"
        ? "no ballot shows an unmet criterion"
        : `the verdict is ${verdict} whatever it answers`;
  return { record: null, answer: { kind: "not_asked", reason: `not asked: ${why}` } };
}

/** Block of a role's answer as received; none if it abstained. */
function answerBlocks(
  label: Parameters<typeof answerBlock>[0],
  { record }: RoleResult<unknown> | Unasked,
): readonly Block[] {
  return record?.answer.kind === "answer" ? [answerBlock(label, record.answer.answer)] : [];
}

/** Names every role without a valid answer, and its reason. */
function failureOf(all: readonly (RoleResult<unknown> | Unasked)[]): PanelOutcome {
  const results = all.filter((one) => one.record !== null);
  const reasons = results.flatMap(({ record: { role, answer } }) =>
    answer.kind === "abstained" ? [`${role} (${answer.reason})`] : [],
  );
  return {
    kind: "failed",
    message: `The panel came to no verdict. No answer that counts from: ${reasons.join(", ")}.`,
    retryable: results.some(({ isTooLong }) => isTooLong) ? false : isRefused(results) ? "once" : true,
  };
}

/** True if refusals alone prevent a verdict. */
function isRefused(results: readonly RoleResult<unknown>[]): boolean {
  const refused = results.filter(({ record }) => isRefusal(record.answer)).map(({ record }) => record.role);
  return refused.includes("critic") || refused.length > GENERATOR_ROLES.length - VOTING.majority;
}
