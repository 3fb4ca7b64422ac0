import { type Hex, keccak256, stringToHex } from "viem";
import type { Faults } from "../faults.ts";
import type { StandKey } from "../stand/stand.ts";
import type { Ask } from "./ask.ts";
import { type Lane, type Operation, startLane } from "./lane.ts";

/** One output handed in until a verdict of it is promised, then asked about until it is there. */
export type Output = Operation & {
  readonly text: string;
  /** keccak256 of its UTF-8 bytes. */
  readonly hash: Hex;
  verdictId: string | null;
  outcome: "open" | "judged" | "failed" | "refused";
};

const PARTY = `0x${"c1".repeat(20)}`;
const SPEC = {
  client_addr: PARTY,
  spec_text: "Name three rivers of Europe.",
  acceptance_criteria: "1. Names three rivers of Europe",
  domain: "content",
};
const PACE = { everyMs: 500, atOnce: 6 };
const POLL_MS = 700;

/** Registers a specification and has clients hand in outputs for it, each another text. */
export async function startOutputs({
  ask,
  key,
  seed,
  faults,
  webhookUrl,
}: {
  ask: Ask;
  key: StandKey;
  seed: number;
  faults: Faults;
  webhookUrl: string;
}): Promise<Lane<Output> & { readonly specId: string }> {
  const headers = { "content-type": "application/json", "x-api-key": key.secret };
  const registered = await ask({ method: "POST", path: "/v1/specs", headers, body: JSON.stringify(SPEC) });
  if (registered.kind !== "answered") throw new Error(`no specification: ${JSON.stringify(registered)}`);
  const { spec_id: specId } = JSON.parse(registered.body) as { spec_id: string };
  const submit = (output: Output) =>
    ask({
      method: "POST",
      path: "/v1/outputs",
      headers,
      body: JSON.stringify({
        spec_id: specId,
        output_text: output.text,
        submitter_addr: PARTY,
        provider_addr: PARTY,
        webhook_url: webhookUrl,
      }),
    });
  const poll = (id: string) => ask({ method: "GET", path: `/v1/verdicts/${id}`, headers, body: null });

  const lane = startLane<Output>({
    name: "verdicts",
    pace: PACE,
    begin: (number) => {
      const text = `Three rivers of Europe that this names: Rhine, Elbe, Oder; note ${seed}-${number}.`;
      return {
        startedAt: performance.now(),
        doneAt: null,
        text,
        hash: keccak256(stringToHex(text)),
        verdictId: null,
        outcome: "open",
      };
    },
    attempt: async (output) => {
      const asked = output.verdictId === null ? await submit(output) : await poll(output.verdictId);
      switch (asked.kind) {
        case "again":
          return asked.waitMs;
        case "unpaid":
        case "refused":
          output.outcome = "refused";
          faults.note("an output is refused", JSON.stringify(asked));
          return null;
        case "answered":
          return afterAnswer(output, JSON.parse(asked.body) as VerdictStatus, faults);
      }
    },
  });
  return { ...lane, specId };
}

type VerdictStatus = {
  readonly verdict_id: string;
  readonly status: string;
  readonly final_verdict?: string;
};

function afterAnswer(output: Output, answer: VerdictStatus, faults: Faults): number | null {
  output.verdictId ??= answer.verdict_id;
  switch (answer.status) {
    case "completed":
      output.outcome = "judged";
      output.doneAt = performance.now();
      return null;
    case "failed":
      output.outcome = "failed";
      faults.note("a verdict failed", JSON.stringify(answer));
      return null;
    default:
      return POLL_MS;
  }
}
