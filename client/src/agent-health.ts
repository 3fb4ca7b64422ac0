import type { Answer, Body, Query, ReportPreview, RoutingDecision } from "./api-types.ts";
import { awaitVerdict, type WaitOptions } from "./await-verdict.ts";
import type { Stopped } from "./errors.ts";
import { type GuardContext, type GuardOptions, guard } from "./guard.ts";
import { queryText, segment } from "./request-path.ts";
import { type Call, type Charge, type Payer, readJson, type SendOptions, send } from "./send.ts";
import { type Subscription, subscriptionOf } from "./subscription.ts";
import type {
  EvidenceInput,
  Receipt,
  StoredEvidence,
  TextErasure,
  VerdictTexts,
} from "./verification-types.ts";

/** Beyond the service's own 45 s before and 45 s after a settlement of 20 s. */
const TIMEOUT_MS = 120_000;
const RETRIES = 2;

export type AgentHealthOptions = {
  /** Scheme, host and port of the service. */
  readonly baseUrl: string;
  /** The same of the verification interface, where that is served elsewhere. */
  readonly verifyBaseUrl?: string;
  /** Pays calls by x402 where there is no key, or its balance does not reach. */
  readonly payer?: Payer;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds for one attempt; by default 120,000, longer than the service takes for a call that is settled first. */
  readonly timeoutMs?: number;
  /** Attempts after the first; 2 by default. */
  readonly retries?: number;
  /** The error's facts about a call that stopped; `resume` sets it. */
  readonly resume?: Stopped;
  /** Called with the charge of each answered call, and the balance that it leaves. */
  readonly onCharge?: (charge: Charge) => void;
  /** Waits so many milliseconds; by a timer unless given. */
  readonly sleep?: (ms: number) => Promise<void>;
};

/** Both interfaces: a method for each endpoint of scoring, and what verifies outputs; every one throws an AgentHealthError. */
export class AgentHealth {
  readonly #options: SendOptions;
  readonly #given: AgentHealthOptions;

  /** A key, or null for a client whose payer pays each call. */
  constructor(apiKey: string | null, options: AgentHealthOptions) {
    this.#given = options;
    this.#options = sendOptionsOf(apiKey, options);
  }

  /**
   * A client whose call goes on where another stopped: `health.resume(error).buyKey(25)` sends the key, the payment and the claim
   * that `error` carries, and pays no second time. It is for the very same call, once.
   */
  resume({ idempotencyKey, payment, claim }: Stopped): AgentHealth {
    return new AgentHealth(this.#options.apiKey, {
      ...this.#given,
      resume: { idempotencyKey, payment, claim },
    });
  }

  /**
   * Whether to settle, escrow or reject a payment to a wallet. With `amount_usd` an instant_settle promises that amount: it counts
   * against the wallet's safe amount for a day.
   */
  async route(address: string, query: Query<"/ahs/route/{address}", "get"> = {}): Promise<RoutingDecision> {
    const path = `/ahs/route/${segment(address)}`;
    const answer = await this.#get<Answer<"/ahs/route/{address}", "get">>(path, query);
    return { ...answer, score: answer.ahs_score };
  }

  /** A Hono middleware that asks `route` about every request's wallet, and its amount if `amountUsd` is set. */
  guard<Context extends GuardContext>(options: GuardOptions<Context>) {
    return guard<Context>((address, query) => this.route(address, query), options);
  }

  /** The Agent Health Score. */
  score(
    address: string,
    query: Query<"/ahs/{address}", "get"> = {},
  ): Promise<Answer<"/ahs/{address}", "get">> {
    return this.#get(`/ahs/${segment(address)}`, query);
  }

  /** The score of an agent's wallet, by the agent's registry (its address, or `eip155:CHAIN:ADDRESS`) and its number there. */
  scoreAgent(
    registry: string,
    agentId: bigint | number | string,
    query: Query<"/ahs/agent/{registry}/{agent_id}", "get"> = {},
  ): Promise<Answer<"/ahs/agent/{registry}/{agent_id}", "get">> {
    return this.#get(`/ahs/agent/${segment(registry)}/${segment(String(agentId))}`, query);
  }

  /** Scores of several wallets: up to 10, with a key up to 25. */
  scoreBatch(addresses: readonly string[]): Promise<Answer<"/ahs/batch", "post">> {
    return this.#call({ method: "POST", path: "/ahs/batch", body: { addresses } });
  }

  risk(address: string): Promise<Answer<"/risk/{address}", "get">> {
    return this.#get(`/risk/${segment(address)}`);
  }

  riskPremium(address: string): Promise<Answer<"/risk/premium/{address}", "get">> {
    return this.#get(`/risk/premium/${segment(address)}`);
  }

  counterparties(
    address: string,
    query: Query<"/counterparties/{address}", "get"> = {},
  ): Promise<Answer<"/counterparties/{address}", "get">> {
    return this.#get(`/counterparties/${segment(address)}`, query);
  }

  networkMap(address: string): Promise<Answer<"/network-map/{address}", "get">> {
    return this.#get(`/network-map/${segment(address)}`);
  }

  health(address: string): Promise<Answer<"/health/{address}", "get">> {
    return this.#get(`/health/${segment(address)}`);
  }

  wash(address: string): Promise<Answer<"/wash/{address}", "post">> {
    return this.#call({ method: "POST", path: `/wash/${segment(address)}` });
  }

  reportCard(address: string): Promise<Answer<"/report-card/{address}", "get">> {
    return this.#get(`/report-card/${segment(address)}`);
  }

  /** The report card as a picture. */
  async reportCardImage(address: string, format: "png" | "svg"): Promise<Blob> {
    const path = `/report-card/${segment(address)}`;
    return (await this.#send({ method: "GET", path, query: { format } })).blob();
  }

  optimize(address: string): Promise<Answer<"/optimize/{address}", "get">> {
    return this.#get(`/optimize/${segment(address)}`);
  }

  retry(address: string): Promise<Answer<"/retry/{address}", "get">> {
    return this.#get(`/retry/${segment(address)}`);
  }

  protect(
    address: string,
    query: Omit<Query<"/agent/protect/{address}", "get">, "preview"> = {},
  ): Promise<Answer<"/agent/protect/{address}", "get">> {
    return this.#get(`/agent/protect/${segment(address)}`, query);
  }

  /** Free counts and upper bounds of what `health`, `wash`, `optimize`, `retry` and `protect` find. */
  preview(address: string): Promise<ReportPreview> {
    return this.#get(`/agent/protect/${segment(address)}`, { preview: true });
  }

  /** Thirty days of signed webhooks about a wallet; the secrets of the answer are shown once. */
  subscribeAlerts(
    address: string,
    query: Query<"/alerts/subscribe/{address}", "get">,
  ): Promise<Answer<"/alerts/subscribe/{address}", "get">> {
    return this.#get(`/alerts/subscribe/${segment(address)}`, query);
  }

  /** The routing policy of the key, with the ETag that `setPolicy` takes. */
  async policy(): Promise<{ policy: Answer<"/ahs/route/policy", "get">; etag: string | null }> {
    const response = await send({ method: "GET", path: "/ahs/route/policy" }, this.#options);
    // The document that the type comes from is the one that the service checks its answers by.
    const policy = (await readJson(response)) as Answer<"/ahs/route/policy", "get">;
    return { policy, etag: response.headers.get("etag") };
  }

  /** Replaces the routing policy, with defaults for omitted fields; with an ETag only if it has not changed. */
  setPolicy(
    policy: Body<"/ahs/route/policy", "put">,
    etag?: string,
  ): Promise<Answer<"/ahs/route/policy", "put">> {
    const headers = etag === undefined ? {} : { "If-Match": etag };
    return this.#call({ method: "PUT", path: "/ahs/route/policy", body: policy, headers });
  }

  /** Name, balance and limits of the key. */
  key(): Promise<Answer<"/keys/self", "get">> {
    return this.#get("/keys/self");
  }

  /**
   * Settled payments whose answers are owed: of the wallet that bought the key, or without a key of the one that signed `signIn`, a
   * value of SIGN-IN-WITH-X.
   */
  owed(signIn?: string): Promise<Answer<"/owed", "get">> {
    const headers = signIn === undefined ? {} : { "SIGN-IN-WITH-X": signIn };
    return this.#call({ method: "GET", path: "/owed", headers });
  }

  /** Buys a key; it is shown in this answer alone. Needs a payer. */
  buyKey(creditsUsd: number): Promise<Answer<"/keys", "post">> {
    return this.#call({ method: "POST", path: "/keys", body: { credits_usd: creditsUsd } });
  }

  /** Adds to the balance of the key. Needs a payer beside the key. */
  topUpKey(creditsUsd: number): Promise<Answer<"/keys/topup", "post">> {
    const { apiKey } = this.#options;
    const headers = apiKey === null ? {} : { "X-API-Key": apiKey };
    return this.#call({ method: "POST", path: "/keys/topup", body: { credits_usd: creditsUsd }, headers });
  }

  /** Replaces the key's secret: the old one is refused from then on, and so is this client. */
  rotateKey(): Promise<Answer<"/keys/rotate", "post">> {
    return this.#call({ method: "POST", path: "/keys/rotate", body: {}, once: true });
  }

  /** Subscriptions that the key has bought, newest first. */
  subscriptions(query: Query<"/alerts", "get"> = {}): Promise<Answer<"/alerts", "get">> {
    return this.#get("/alerts", query);
  }

  /** Stored scores of a wallet over time, newest first; free. */
  scoreHistory(
    address: string,
    query: Query<"/ahs/history/{address}", "get"> = {},
  ): Promise<Answer<"/ahs/history/{address}", "get">> {
    return this.#get(`/ahs/history/${segment(address)}`, query);
  }

  /** Two to ten wallets side by side, by their stored scores; free. */
  compare(addresses: readonly string[]): Promise<Answer<"/compare", "get">> {
    return this.#get("/compare", { addresses });
  }

  /** Followed wallets that share an owner with a wallet, with their scores and the evidence of each link; free. */
  ownerCluster(address: string): Promise<Answer<"/owner-cluster/{address}", "get">> {
    return this.#get(`/owner-cluster/${segment(address)}`);
  }

  /** Registered agents by a part of their name, or by their number. */
  findAgents(query: Query<"/agents", "get">): Promise<Answer<"/agents", "get">> {
    return this.#get("/agents", query);
  }

  /** Monitoring that was bought, by the key that did or by its manage token. */
  subscription(id: string, manageToken?: string): Subscription {
    return subscriptionOf((call) => this.#call(call), id, manageToken);
  }

  /** Registers what outputs are judged by. */
  registerSpec(spec: Body<"/v1/specs", "post">): Promise<Answer<"/v1/specs", "post">> {
    return this.#verify({ method: "POST", path: "/v1/specs", body: spec });
  }

  /** Has a delivered output judged; `waitForVerdict` takes the id of its answer. */
  verifyOutput(output: Body<"/v1/outputs", "post">): Promise<Answer<"/v1/outputs", "post">> {
    return this.#verify({ method: "POST", path: "/v1/outputs", body: output });
  }

  getVerdict(id: string): Promise<Answer<"/v1/verdicts/{verdict_id}", "get">> {
    return this.#verify({ method: "GET", path: `/v1/verdicts/${segment(id)}` });
  }

  /** The verdict once it is completed and not run again, or failed; throws VerdictPendingError where that takes too long. */
  waitForVerdict(id: string, options: WaitOptions = {}): Promise<Answer<"/v1/verdicts/{verdict_id}", "get">> {
    const { sleep } = this.#options;
    return awaitVerdict({ ...options, sleep, read: () => this.getVerdict(id) });
  }

  /** Deliveries to the webhook of an output, for the key that submitted it. */
  getVerdictDeliveries(
    id: string,
    { limit, cursor }: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<Answer<"/v1/verdicts/{verdict_id}/deliveries", "get">> {
    const query = { limit: queryText(limit), cursor: queryText(cursor) };
    return this.#verify({ method: "GET", path: `/v1/verdicts/${segment(id)}/deliveries`, query });
  }

  /** Has a failed verdict run again, by the key that submitted it. */
  retryVerdict(id: string): Promise<Answer<"/v1/verdicts/{verdict_id}/retry", "post">> {
    return this.#verify({ method: "POST", path: `/v1/verdicts/${segment(id)}/retry` });
  }

  /** Hands in evidence for a verdict on HOLD, by the key that submitted it. */
  offerEvidence(id: string, evidence: EvidenceInput): Promise<StoredEvidence> {
    return this.#verify({ method: "POST", path: `/v1/verdicts/${segment(id)}/evidence`, body: evidence });
  }

  /** The bytes whose keccak256 is the `evidence_hash` of the newest decision, or of an earlier run: JSON by RFC 8785. */
  async getEvidence(id: string, run?: number): Promise<Uint8Array> {
    const path = `/v1/verdicts/${segment(id)}/evidence`;
    const query = run === undefined ? {} : { run };
    const response = await this.#send({ method: "GET", path, query }, this.#given.verifyBaseUrl);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** Specification, output and evidence as they were sent, for the key that submitted the output. */
  getTexts(id: string): Promise<VerdictTexts> {
    return this.#verify({ method: "GET", path: `/v1/verdicts/${segment(id)}/texts` });
  }

  /** Has output, evidence and what quotes them erased for good: for the submitter's key or wallet, the client and the provider. */
  eraseTexts(id: string): Promise<TextErasure> {
    return this.#verify({ method: "DELETE", path: `/v1/verdicts/${segment(id)}/texts` });
  }

  /** The newest decision as a JWS, by a key of `/.well-known/jwks.json`. */
  getReceipt(id: string): Promise<Receipt> {
    return this.#verify({ method: "GET", path: `/v1/verdicts/${segment(id)}/receipt` });
  }

  #get<Result>(path: string, query: object = {}): Promise<Result> {
    const given = Object.entries(query).map(([name, value]) => [name, queryText(value)] as const);
    return this.#call({ method: "GET", path, query: Object.fromEntries(given) });
  }

  #verify<Result>(call: Call): Promise<Result> {
    return this.#call(call, this.#given.verifyBaseUrl);
  }

  async #call<Result>(call: Call, baseUrl?: string): Promise<Result> {
    // The document that the type comes from is the one that the service checks its answers by.
    return (await readJson(await this.#send(call, baseUrl))) as Result;
  }

  #send(call: Call, baseUrl = this.#given.baseUrl): Promise<Response> {
    return send(this.#paid(call), { ...this.#options, baseUrl: baseUrl.replace(/\/+$/, "") });
  }

  #paid(call: Call): Call {
    return { ...call, idempotencyKey: globalThis.crypto.randomUUID() };
  }
}

/** How a client's requests are sent, by what it was given and else by defaults. */
function sendOptionsOf(apiKey: string | null, options: AgentHealthOptions): SendOptions {
  return {
    baseUrl: options.baseUrl.replace(/\/+$/, ""),
    apiKey,
    payer: options.payer ?? null,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
    sleep: options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
    resume: options.resume ?? null,
    onCharge: options.onCharge ?? (() => undefined),
  };
}
