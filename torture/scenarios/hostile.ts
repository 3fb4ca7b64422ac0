import fc from "fast-check";
import { idempotencyKeyOf } from "../../service/access/idempotent-answers.ts";

import {
  type ApiDocument,
  type DocumentedOperation,
  operationsOf,
} from "../../service/api/kit/openapi-document.ts";
import { createAnswerCheck, saysFree } from "../../test/support/openapi-fuzz/check-answer.ts";
import { type FuzzRequest, requestFrom } from "../../test/support/openapi-fuzz/request-from-operation.ts";
import { createSender } from "../../test/support/openapi-fuzz/send-request.ts";
import { pick } from "../random.ts";
import { AGENTS } from "../stand/chain.ts";
import type { StandKey } from "../stand/stand.ts";
import { type Injection, NEVER_RESTARTS, type ScenarioContext } from "./scenario.ts";

const DOCUMENTS = ["/openapi.json", "/v1/openapi.json"];
const BALANCE = 1_000_000_000;
const AT_ONCE = 8;
const SHOWN = 300;

type Target = {
  readonly operation: DocumentedOperation;
  readonly document: ApiDocument;
  readonly check: ReturnType<typeof createAnswerCheck>;
  /** A metered key that nothing but this operation is called with. */
  readonly key: StandKey;
  /** Idempotency-Keys of charged answers: once each is charged. */
  readonly answered: Set<string>;
  charges: number;
};

/** Sends what the service's own documents let one think of to every operation, while everything else goes on. */
export async function hostile(context: ScenarioContext): Promise<Injection> {
  const { stand, extent } = context;
  const targets = (await Promise.all(DOCUMENTS.map((path) => targetsOf(context, path)))).flat();
  const senders = stand.services.servers().map(createSender);
  const random = stand.random("hostile");
  for (const target of targets) {
    const drawn = fc.sample(requestFrom(target.operation, target.document, AGENTS), {
      seed: stand.seed,
      numRuns: extent.fuzzed,
    });
    for (let first = 0; first < drawn.length; first += AT_ONCE) {
      const few = drawn.slice(first, first + AT_ONCE);
      await Promise.all(few.map((request) => send(context, { target, request, by: pick(random, senders) })));
    }
    await requireCharges(context, target);
  }
  for (const sender of senders) sender.close();
  return {
    injected: targets.length * extent.fuzzed,
    of: `hostile requests to ${targets.length} operations`,
    recovery: null,
    mayRestart: NEVER_RESTARTS,
    notes: [],
  };
}

async function targetsOf({ stand }: ScenarioContext, path: string): Promise<Target[]> {
  const document = (await (await fetch(`${stand.services.servers()[0]}${path}`)).json()) as ApiDocument;
  const check = createAnswerCheck(document);
  return Promise.all(
    operationsOf(document).map(async (operation) => ({
      operation,
      document,
      check,
      key: await stand.createKey(BALANCE),
      answered: new Set<string>(),
      charges: 0,
    })),
  );
}

async function send(
  { faults }: ScenarioContext,
  {
    target,
    request,
    by,
  }: {
    target: Target;
    request: FuzzRequest;
    by: ReturnType<typeof createSender>;
  },
): Promise<void> {
  const { operation, key, check } = target;
  const keyed = { ...request, headers: { "x-api-key": key.secret, ...request.headers } };
  const what = `${operation.method} ${operation.path}`;
  const asked = `${request.target} ${request.body}`.slice(0, SHOWN);
  try {
    const answer = await by.send(keyed);
    const fault = check(operation, answer);
    if (fault !== null) faults.note(what, `${fault.slice(0, SHOWN)} to ${asked}`);
    if (answer.status === 200 && !saysFree(answer.body)) noteCharge(target, keyed);
  } catch (error) {
    faults.note(`${what} is not answered`, `${String(error)} to ${asked}`);
  }
}

function noteCharge(target: Target, { headers }: FuzzRequest): void {
  if (target.operation.priceUnits === null || headers["x-api-key"] !== target.key.secret) return;
  const key = idempotencyKeyOf({ header: (name) => headers[name] });
  if (key !== null && target.answered.has(key)) return;
  if (key !== null) target.answered.add(key);
  target.charges += 1;
}

/** A refused request and a free answer cost nothing, any other answer its price. */
async function requireCharges({ stand, faults }: ScenarioContext, target: Target): Promise<void> {
  const { operation, key, charges } = target;
  const { rows } = await stand.db.$client.query<{ balance: string }>(
    "select balance_units as balance from ahs.api_key where id = $1",
    [key.id],
  );
  const spent = BALANCE - Number(rows[0]?.balance);
  const expected = (operation.priceUnits ?? 0) * charges;
  if (spent !== expected)
    faults.note(`${operation.method} ${operation.path} charges`, `${spent} units instead of ${expected}`);
}
