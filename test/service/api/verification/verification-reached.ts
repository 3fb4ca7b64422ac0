import { pino } from "pino";
import { createRepeatStore } from "../../../../service/access/idempotent-answers.ts";

import { createServerLife } from "../../../../service/api/kit/server-life.ts";
import { fakeLedger, KEY } from "../fake-ports.ts";
import { bodyRefusals, busyLedger } from "../shared-refusals.ts";
import {
  bothPorts,
  CLIENT,
  fakeVerificationApp,
  PROVIDER,
  pendingView,
  posted,
  SPEC_ID,
  VERDICT_ID,
  verdictView,
  WELL,
  withVerdict,
} from "./fake-verification-ports.ts";

type Reach = () => Response | Promise<Response>;
type Reached = Readonly<Record<number, Reach>>;
type Changes = Parameters<typeof fakeVerificationApp>[0];

const VERDICT = `/v1/verdicts/${VERDICT_ID}`;
const CREDENTIALS = { "X-API-Key": KEY };
const SPEC = { client_addr: CLIENT, spec_text: "Ten rows, please." };
const OUTPUT = {
  spec_id: SPEC_ID,
  output_text: "1 2 3 4 5 6 7 8 9 10",
  submitter_addr: CLIENT,
  provider_addr: PROVIDER,
};
const EXHAUSTED = { policy: "ip", perMinute: 1, tokens: 0 } as const;

const broken = async (): Promise<never> => {
  throw new Error("broken");
};
const unreachable = async (): Promise<never> => {
  throw new Error("timeout exceeded when trying to connect");
};

/** Refusals that every endpoint has. */
function every(path: string, request: RequestInit = {}): Reached {
  const drained = createServerLife();
  drained.drain();
  const exhausted = () => {
    throw new Error("broken");
  };
  return {
    429: () => fakeVerificationApp({ ipLimit: () => EXHAUSTED }).request(path, request),
    500: () => fakeVerificationApp({ ipLimit: exhausted }).request(path, request),
    503: () => fakeVerificationApp({ life: drained }).request(path, request),
  };
}

function refusedBodies(path: string): Reached {
  return bodyRefusals((request) => fakeVerificationApp().request(path, { method: "POST", ...request }));
}

/** Those of a POST with a credential that acts once under an Idempotency-Key. */
function acting(path: string, body: unknown): Reached {
  const repeats = createRepeatStore(busyLedger().answers, pino({ level: "silent" }));
  const ask = (changes: Changes, headers: Readonly<Record<string, string>>) =>
    fakeVerificationApp(changes).request(path, posted(body, headers));
  return {
    ...refusedBodies(path),
    200: () => ask({}, CREDENTIALS),
    400: () => ask({}, { ...CREDENTIALS, "Idempotency-Key": "" }),
    401: () => ask({}, {}),
    409: () => ask({ repeats }, { ...CREDENTIALS, "Idempotency-Key": "first" }),
    422: () => fakeVerificationApp().request(path, posted({}, CREDENTIALS)),
  };
}

function reading(path: string, headers: Readonly<Record<string, string>> = {}): Reached {
  const { verdicts } = bothPorts();
  const failing = (find: () => Promise<never>) =>
    fakeVerificationApp({ verdicts: { ...verdicts, find } }).request(path, { headers });
  return {
    ...every(path),
    200: () => fakeVerificationApp().request(path, { headers }),
    404: () => fakeVerificationApp().request(path.replace(VERDICT_ID, "x"), { headers }),
    500: () => failing(broken),
    503: () => failing(unreachable),
  };
}

/** The same request again, with the tag that the first answer had. */
async function again(path: string): Promise<Response> {
  const app = fakeVerificationApp();
  const tag = (await app.request(path)).headers.get("etag") ?? "";
  return app.request(path, { headers: { "if-none-match": tag } });
}

const { outputs, verdicts } = bothPorts();
const foreign = withVerdict(verdictView({ owner: "key:another" }));

const outputReached: Reached = {
  ...every("/v1/outputs", posted(OUTPUT)),
  ...acting("/v1/outputs", OUTPUT),
  402: () =>
    fakeVerificationApp({}, fakeLedger({ balanceUnits: 0 })).request(
      "/v1/outputs",
      posted(OUTPUT, CREDENTIALS),
    ),
  404: () =>
    fakeVerificationApp({ outputs: { ...outputs, spec: async () => null } }).request(
      "/v1/outputs",
      posted(OUTPUT, CREDENTIALS),
    ),
  409: () =>
    fakeVerificationApp({ outputs: { ...outputs, accept: async () => ({ kind: "busy" }) } }).request(
      "/v1/outputs",
      posted(OUTPUT, CREDENTIALS),
    ),
  410: () =>
    fakeVerificationApp({
      outputs: {
        ...outputs,
        spec: async (id) => {
          const spec = await outputs.spec(id);
          return spec === null ? null : { ...spec, specText: null };
        },
      },
    }).request("/v1/outputs", posted(OUTPUT, CREDENTIALS)),
  503: () =>
    fakeVerificationApp({ outputs: { ...outputs, budget: null } }).request(
      "/v1/outputs",
      posted(OUTPUT, CREDENTIALS),
    ),
};

/** By method and path: requests that bring each endpoint of verification to each status that it can give. */
export const VERIFICATION_REACHED: Readonly<Record<string, Reached>> = {
  "POST /v1/specs": {
    ...every("/v1/specs", posted(SPEC)),
    ...refusedBodies("/v1/specs"),
    200: () => fakeVerificationApp().request("/v1/specs", posted(SPEC)),
    401: () => fakeVerificationApp().request("/v1/specs", posted(SPEC, { "X-API-Key": "ahs_unknown" })),
    422: () => fakeVerificationApp().request("/v1/specs", posted({})),
  },
  "POST /v1/outputs": outputReached,
  "GET /v1/verdicts/{verdict_id}": { ...reading(VERDICT), 304: () => again(VERDICT) },
  "GET /v1/verdicts/{verdict_id}/evidence": {
    ...reading(`${VERDICT}/evidence`),
    304: () => again(`${VERDICT}/evidence`),
    422: () => fakeVerificationApp().request(`${VERDICT}/evidence?run=x`),
  },
  "POST /v1/verdicts/{verdict_id}/evidence": {
    ...every(`${VERDICT}/evidence`, posted({})),
    ...acting(`${VERDICT}/evidence`, { text: "Sources." }),
    403: () => evidenceThat({ kind: "stranger" }),
    404: () => evidenceThat({ kind: "unknown" }),
    410: () => evidenceThat({ kind: "texts-dropped" }),
  },
  "GET /v1/verdicts/{verdict_id}/texts": {
    ...reading(`${VERDICT}/texts`, CREDENTIALS),
    401: () => fakeVerificationApp().request(`${VERDICT}/texts`),
    403: () => fakeVerificationApp(foreign).request(`${VERDICT}/texts`, { headers: CREDENTIALS }),
    410: () =>
      fakeVerificationApp({
        verdicts: {
          ...verdicts,
          texts: async (id) => ({ ...(await verdicts.texts(id)), outputText: null }),
        },
      }).request(`${VERDICT}/texts`, { headers: CREDENTIALS }),
  },
  "GET /v1/verdicts/{verdict_id}/deliveries": {
    ...reading(`${VERDICT}/deliveries`, CREDENTIALS),
    401: () => fakeVerificationApp().request(`${VERDICT}/deliveries`),
    403: () => fakeVerificationApp(foreign).request(`${VERDICT}/deliveries`, { headers: CREDENTIALS }),
    422: () => fakeVerificationApp().request(`${VERDICT}/deliveries?limit=0`, { headers: CREDENTIALS }),
  },
  "POST /v1/verdicts/{verdict_id}/retry": {
    ...every(`${VERDICT}/retry`, posted({})),
    ...withoutBody(acting(`${VERDICT}/retry`, {})),
    402: () => retryThat({ kind: "short", units: 500, balanceUnits: 0 }),
    403: () => retryThat({ kind: "not-the-submitter" }),
    404: () => retryThat({ kind: "unknown" }),
    410: () => retryThat({ kind: "texts-dropped" }),
    422: () => reusedKey(`${VERDICT}/retry`),
  },
  "POST /v1/verdicts/{verdict_id}/review": {
    ...every(`${VERDICT}/review`, posted({})),
    ...acting(`${VERDICT}/review`, { decision: "ALLOW", reason: "Checked." }),
    403: () =>
      fakeVerificationApp({
        reviewers: { ...bothPorts().reviewers, find: async () => ({ name: "n", scopes: [] }) },
      }).request(`${VERDICT}/review`, posted({ decision: "ALLOW", reason: "x" }, CREDENTIALS)),
    404: () =>
      fakeVerificationApp().request(
        "/v1/verdicts/x/review",
        posted({ decision: "ALLOW", reason: "x" }, CREDENTIALS),
      ),
  },
  "GET /v1/verdicts/{verdict_id}/receipt": {
    ...reading(`${VERDICT}/receipt`),
    409: () => fakeVerificationApp(withVerdict(pendingView())).request(`${VERDICT}/receipt`),
  },
  "GET /v1/receipt-mappings/{mapping_id}": {
    ...every("/v1/receipt-mappings/x"),
    200: () => fakeVerificationApp().request("/v1/receipt-mappings/agent-health-v0.3-2026-11-20-t070"),
    404: () => fakeVerificationApp().request("/v1/receipt-mappings/x"),
  },
  "GET /health": {
    ...every("/health"),
    200: () => fakeVerificationApp().request("/health"),
    503: () =>
      fakeVerificationApp({
        verificationHealth: async () => ({ ...WELL, queue: { status: "failing", detail: "late" } }),
      }).request("/health"),
  },
};

/** No body is read, so none is too large. */
function withoutBody({ 413: _tooLarge, 415: _encoded, ...rest }: Reached): Reached {
  return rest;
}

function evidenceThat(outcome: Awaited<ReturnType<ReturnType<typeof bothPorts>["acceptEvidence"]>>) {
  return fakeVerificationApp({ acceptEvidence: async () => outcome }).request(
    `${VERDICT}/evidence`,
    posted({ text: "Sources." }, CREDENTIALS),
  );
}

function retryThat(outcome: Awaited<ReturnType<ReturnType<typeof bothPorts>["retryVerdict"]>>) {
  return fakeVerificationApp({ retryVerdict: async () => outcome }).request(
    `${VERDICT}/retry`,
    posted({}, CREDENTIALS),
  );
}

/** An Idempotency-Key of another request. */
async function reusedKey(path: string): Promise<Response> {
  const app = fakeVerificationApp();
  const request = posted({}, { ...CREDENTIALS, "Idempotency-Key": "one" });
  const other = "00000000-0000-4000-8000-000000000000";
  await app.request(path.replace(VERDICT_ID, other), request);
  return app.request(path, request);
}
