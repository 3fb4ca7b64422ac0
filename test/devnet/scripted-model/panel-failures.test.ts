import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { GENERATORS } from "../../../devnet/scripted-model/roles.ts";
import {
  type ScriptedModel,
  startScriptedModel,
} from "../../../devnet/scripted-model/start-scripted-model.ts";
import type { PanelCase } from "../../../service/verification/panel/types.ts";
import { panelOn, takeCalls } from "../../service/verification/panel/injection/hostile-run.ts";
import { MARKER } from "./ask-scripted.ts";

const CASE: PanelCase = {
  specText: "Tell the reader about gulls.",
  acceptanceCriteria: "- Says where gulls build nests\n- Says what gulls eat at sea",
  domain: "content",
  outputText: "Gulls build their nests on cliffs and roofs.\nWhat they eat at sea is mostly fish and crabs.",
  evidenceTexts: [],
  providerHasScore: true,
  released: null,
};
const CALL_MS = 3_000;

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ chainId: 31_337 });
});
afterEach(async () => {
  await fetch(`${model.origin}/scripted/behaviour`, { method: "DELETE" });
});
afterAll(() => model.stop());

describe("the panel's outcome of a model that", () => {
  test.each([
    ["is itself", {}, "ALLOW"],
    ["fails twice and asks to come back", { fail: 429, retry_after: 1, times: 2 }, "ALLOW"],
    ["answers off the schema once a role", { break_schema: "once" }, "ALLOW"],
    ["does not know json_schema", { json_schema_unsupported: true }, "ALLOW"],
    ["refuses one generator", { refuse: true, roles: ["domain_expert"] }, "ALLOW"],
    ["refuses the synthesiser", { refuse: true, roles: ["synthesiser"] }, "ALLOW"],
    ["disagrees with itself", { disagree: true }, "HOLD"],
    ["has a critic against everybody", { disagree: true, roles: ["critic"] }, "HOLD"],
    ["is of the opposite opinion", { disagree: true, roles: GENERATORS }, "REJECT"],
  ])("%s: a verdict", async (_, behaviour, verdict) => {
    await tell(behaviour);
    const outcome = await panelOn(model, MARKER)(CASE);
    expect(outcome).toMatchObject({ kind: "decided", decision: { verdict } });
    expect((await takeCalls(model)).obeyed).toEqual([]);
  });

  test.each([
    ["is down", { fail: 503 }, true],
    ["limits every call", { fail: 429 }, true],
    ["never answers", { hang: true }, true],
    ["is too slow", { slow_ms: 2 * CALL_MS }, true],
    ["is always off the schema", { break_schema: "always" }, true],
    ["never ends an answer", { truncate: true }, true],
    ["refuses", { refuse: true }, "once"],
    ["refuses two generators", { refuse: true, roles: ["domain_expert", "user_advocate"] }, "once"],
    ["refuses the critic", { refuse: true, roles: ["critic"] }, "once"],
  ])("%s: none, with a reason", async (_, behaviour, retryable) => {
    await tell(behaviour);
    const outcome = await panelOn(model, MARKER, CALL_MS)(CASE);
    expect(outcome).toEqual({
      kind: "failed",
      message: expect.stringMatching(/critic|generator|criteria_auditor|domain_expert|user_advocate/),
      retryable,
    });
  });

  test("is asked of thirty criteria, none of which is met: a verdict", async () => {
    const acceptanceCriteria = Array.from({ length: 30 }, (_, index) => `- shows chart ${index + 100}`).join(
      "\n",
    );
    const outcome = await panelOn(model, MARKER)({ ...CASE, acceptanceCriteria });
    expect(outcome).toMatchObject({ kind: "decided", decision: { verdict: "REJECT" } });
  });

  test("is gone: none, and it may fare better later", async () => {
    const other = await startScriptedModel({ chainId: 31_337 });
    const run = panelOn(other, MARKER, CALL_MS);
    await other.stop();
    expect(await run(CASE)).toMatchObject({ kind: "failed", retryable: true });
  });
});

function tell(behaviour: object): Promise<Response> {
  return fetch(`${model.origin}/scripted/behaviour`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(behaviour),
  });
}
