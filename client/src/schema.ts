// Written by npm run generate from the OpenAPI document of the scoring interface.

export interface paths {
  "/ahs/{address}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Agent Health Score of a wallet
     * @description Scores the wallet at the newest block that is both finalized and enriched, and stores the result. A wallet without enough history is INSUFFICIENT, with null scores and `escrow`, never a low grade. A sanctioned wallet scores 0 and is rejected. What the index does not know of the wallet's past is read from the history source that the deployment names, if it names one, and the wallet is followed from then on; while that goes on, or when the source fails, the answer is 503 and costs nothing. With `include=infrastructure`, or an `agent_url`, the endpoints that its agents declare are shown and, once they have been probed for a day, scored: that answer alone is 3D.
     */
    get: operations["get_ahs_address"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/ahs/route/{address}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Trust routing decision for a payment to a wallet
     * @description Grades A and B settle at once, C goes to escrow, the others are rejected. Sanctions are looked up at the newest indexed block on every answer and always reject, before any allowlist. A wallet never scored, or without enough history, is sent to escrow.
     */
    get: operations["get_ahs_route_address"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/epochs/{epoch}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Merkle list of one epoch
     * @description Every wallet's record of one night with the proof that leads to the root of that night. The oracle's `verify` accepts the proofs of the latest epoch; earlier roots are in its `RootPublished` events.
     */
    get: operations["get_epochs_epoch"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/inputs/{hash}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * File behind an inputs hash
     * @description What a score's `inputs_hash` names: a file that names the policy, the token list, the sanctions list and the wallet's counterparty file, each of which is here as well. All are in their RFC 8785 form, and the hash is that of the body: keccak256 for inputs and policy, SHA-256 for the lists and the counterparty file.
     */
    get: operations["get_inputs_hash"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/livez": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Liveness
     * @description 200 while the process runs.
     */
    get: operations["get_livez"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/readyz": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Readiness
     * @description 200 when the database answers and the newest indexed block is young enough, else 503; each check is listed. How old the sanctions sources are is told, and decides nothing: one out of reach keeps its last list.
     */
    get: operations["get_readyz"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/risk/{address}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Pre-transaction trust check of a wallet
     * @description How risky it is to deal with a wallet, from its newest stored score, the sanctions lists at the newest indexed block, and whom it sent value to. It scores nobody: a wallet never scored, or without enough history, has no `risk_score` and the level UNKNOWN, since absence of data is no sign of risk. A sanctioned wallet is 100 and CRITICAL, always.
     */
    get: operations["get_risk_address"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AgentDocument: {
      agent_id: string;
      detail: string | null;
      /**
       * @description What came of the last try to read its registration document; null before the first
       * @enum {string|null}
       */
      document: "current" | "unreachable" | "refused" | "malformed" | null;
      /**
       * Format: date-time
       * @description When the document was read that is spoken of
       */
      fetched_at: string | null;
    };
    AgentUrl: {
      /** @description Whether it equals or lies under a declared endpoint; if not, it scores nothing */
      bound: boolean;
      /** @description The declared endpoint that it belongs to */
      endpoint: string | null;
      probe: components["schemas"]["Probe"] & unknown;
      url: string;
    } | null;
    AhsRecord: {
      /**
       * @description EIP-55 address
       * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
       */
      address: string;
      /** @description Integer 0 to 100; null for a wallet without enough history */
      ahs_score: number | null;
      as_of_block: number;
      /**
       * Format: date-time
       * @description ISO 8601, UTC
       */
      as_of_time: string;
      attestation?: components["schemas"]["Attestation"];
      chain_id: number;
      confidence: number;
      confidence_level: components["schemas"]["ConfidenceLevel"];
      coverage: components["schemas"]["Coverage"];
      /** @description Integer 0 to 100; null for a wallet without enough history */
      d1_score: number | null;
      /** @description Integer 0 to 100; null for a wallet without enough history */
      d2_score: number | null;
      /** @description Null while the mode is 2D */
      d3_score: number | null;
      features?: components["schemas"]["Feature"][];
      grade: components["schemas"]["Grade"];
      /** @description Excellent 90-100, Good 75-89, Needs Attention 60-74, Degraded 40-59, Critical 20-39, Failing 0-19, Insufficient history */
      grade_label: string;
      /** @description Newest first, at most 100 */
      history?: components["schemas"]["HistoryEntry"][];
      infrastructure?: components["schemas"]["Infrastructure"];
      /** @description Commits to everything that the score was computed from */
      inputs_hash: string;
      /** @enum {string} */
      mode: "2D" | "3D";
      model_version: string;
      patterns: components["schemas"]["Pattern"][];
      published: components["schemas"]["Published"];
      sanctions_flags: components["schemas"]["SanctionsFlag"][];
      /** @description The score is as of a block older than 24 hours */
      stale: boolean;
      /**
       * Format: date-time
       * @description When this answer was made
       */
      timestamp: string;
      /**
       * @description Over 30 days of stored scores; null below three of them
       * @enum {string|null}
       */
      trend: "improving" | "stable" | "declining" | null;
      trust_routing: components["schemas"]["RoutingAction"];
    };
    /** @description EIP-712 typed data that publishSigned of the oracle accepts from anyone */
    Attestation: {
      signature: string;
      /**
       * @description EIP-55 address
       * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
       */
      signer: string;
      typed_data: {
        domain: {
          chainId: number;
          name: string;
          /**
           * @description EIP-55 address
           * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
           */
          verifyingContract: string;
          version: string;
        };
        /** @description 64-bit members as decimal strings */
        message: {
          [key: string]: string | number;
        };
        primaryType: string;
        types: {
          [key: string]: {
            name: string;
            type: string;
          }[];
        };
      };
    };
    /** @enum {string} */
    ConfidenceLevel: "HIGH" | "MEDIUM" | "LOW" | "INSUFFICIENT";
    /** @description Within one hop, of what the wallet itself sent: what others send to it is not its doing. Lists are those of the newest indexed block, grades the newest stored ones, a minute old at most */
    CounterpartyExposure: {
      as_of_block: number;
      counterparties: number;
      failing_counterparties: number;
      /** @description To wallets of grade F that are not listed */
      failing_share: number;
      listed_counterparties: number;
      /** @description To sanctioned accounts and mixers */
      listed_share: number;
      of: string;
      /** @description What the shares are of, where it has a price */
      sent_usd: number;
      /** @description listed_share and failing_share together */
      share: number;
      /**
       * Format: date-time
       * @description First contact that is known
       */
      since: string;
    } | null;
    Coverage: {
      complete: boolean;
      from_block: number;
      sources: string[];
      to_block: number;
    };
    Endpoint: {
      /** @description Share of the probes that were answered as by a service that is up */
      availability: number | null;
      /** @description Share of the probes that failed in any way */
      error_rate: number | null;
      /** @description By day, newest first, at most 31 */
      history: components["schemas"]["ProbeDay"][];
      last: components["schemas"]["Probe"];
      /** @description Nearest rank; a probe that failed counts as having taken 10,000 ms */
      latency_p50_ms: number | null;
      latency_p95_ms: number | null;
      /** @description Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours */
      probes: number;
      services: {
        agent_id: string;
        name: string;
        version: string | null;
      }[];
      url: string;
      validity: number | null;
    };
    Epoch: {
      /** Format: date-time */
      created_at: string;
      epoch: number;
      leaves: {
        /** @description Sibling hashes from the leaf up, as verify takes them */
        proof: string[];
        /** @description The record as the oracle packs it */
        record: string;
        /**
         * @description EIP-55 address
         * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
         */
        wallet: string;
      }[];
      root: string;
    };
    Feature: {
      /** @description Hundredths of a point; a dimension's lines add up to 100 times its score */
      contribution: number | null;
      /** @enum {string} */
      dimension: "D1" | "D2" | "D3" | "AHS";
      name: string;
      reason: string | null;
      samples: number;
      score: number | null;
      /** @enum {string} */
      state: "measured" | "not_applicable" | "unknown";
      unit: string;
      value: number | null;
      weight: number;
    };
    /**
     * @description Null for a wallet without enough history
     * @enum {string|null}
     */
    Grade: "A" | "B" | "C" | "D" | "E" | "F" | null;
    HistoryEntry: {
      /** @description Integer 0 to 100; null for a wallet without enough history */
      ahs_score: number | null;
      as_of_block: number;
      /**
       * Format: date-time
       * @description ISO 8601, UTC
       */
      as_of_time: string;
      confidence: number;
      confidence_level: components["schemas"]["ConfidenceLevel"];
      /** @description Integer 0 to 100; null for a wallet without enough history */
      d1_score: number | null;
      /** @description Integer 0 to 100; null for a wallet without enough history */
      d2_score: number | null;
      grade: components["schemas"]["Grade"];
      inputs_hash: string;
      model_version: string;
    };
    /** @description Every fault of the request, in field order */
    HTTPValidationError: {
      detail?: components["schemas"]["ValidationError"][];
    };
    /**
     * @description The http(s) endpoints that the wallet's agents declare in their ERC-8004 registration documents, by the probes of the last seven days. With at least 20 of them over 24 hours the answer's mode is 3D: 0.25 D1 + 0.45 D2 + 0.30 D3. What is stored, published and routed by stays 2D. A declared endpoint is not proven to be the agent's: anybody may declare any URL, and a probe shows that something answers there, not who runs it
     * @example {
     *       "window": {
     *         "from": "2026-11-13T10:00:05.000Z",
     *         "to": "2026-11-20T10:00:05.000Z"
     *       },
     *       "probes": 671,
     *       "availability": 0.994039,
     *       "error_rate": 0.005961,
     *       "latency_p50_ms": 212,
     *       "latency_p95_ms": 640,
     *       "validity": 0.994039,
     *       "reason": null,
     *       "agents": [
     *         {
     *           "agent_id": "22",
     *           "document": "current",
     *           "detail": null,
     *           "fetched_at": "2026-11-20T03:12:41.000Z"
     *         }
     *       ],
     *       "endpoints": [
     *         {
     *           "url": "https://agent.example/.well-known/agent-card.json",
     *           "services": [
     *             {
     *               "agent_id": "22",
     *               "name": "A2A",
     *               "version": "0.3.0"
     *             }
     *           ],
     *           "probes": 671,
     *           "availability": 0.994039,
     *           "error_rate": 0.005961,
     *           "latency_p50_ms": 212,
     *           "latency_p95_ms": 640,
     *           "validity": 0.994039,
     *           "last": {
     *             "at": "2026-11-20T09:52:11.000Z",
     *             "outcome": "ok",
     *             "status": 200,
     *             "latency_ms": 198,
     *             "valid": true,
     *             "detail": null
     *           },
     *           "history": [
     *             {
     *               "day": "2026-11-20",
     *               "probes": 40,
     *               "availability": 1,
     *               "error_rate": 0,
     *               "latency_p50_ms": 205,
     *               "latency_p95_ms": 512
     *             }
     *           ]
     *         }
     *       ],
     *       "endpoints_declared": 1,
     *       "agent_url": null
     *     }
     */
    Infrastructure: {
      agent_url: components["schemas"]["AgentUrl"];
      agents: components["schemas"]["AgentDocument"][];
      /** @description Share of the probes that were answered as by a service that is up */
      availability: number | null;
      endpoints: components["schemas"]["Endpoint"][];
      /** @description More than are shown and scored, where over 50 */
      endpoints_declared: number;
      /** @description Share of the probes that failed in any way */
      error_rate: number | null;
      /** @description Nearest rank; a probe that failed counts as having taken 10,000 ms */
      latency_p50_ms: number | null;
      latency_p95_ms: number | null;
      /** @description Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours */
      probes: number;
      /** @description Why there is no d3_score */
      reason: string | null;
      /** @description Share of the probes that served what they must, among those that tell */
      validity: number | null;
      window: {
        /**
         * Format: date-time
         * @description ISO 8601, UTC
         */
        from: string;
        /**
         * Format: date-time
         * @description ISO 8601, UTC
         */
        to: string;
      };
    };
    Pattern: {
      /** @description Points taken from the score */
      effect: number;
      evidence: string;
      name: string;
      /** @enum {string} */
      severity: "info" | "warning" | "critical";
    };
    Probe: {
      /**
       * Format: date-time
       * @description ISO 8601, UTC
       */
      at: string;
      detail: string | null;
      latency_ms: number | null;
      outcome: components["schemas"]["ProbeOutcome"];
      status: number | null;
      /** @description Whether it served what its kind of service must; null where nothing can be said */
      valid: boolean | null;
    } | null;
    ProbeDay: {
      /** @description Share of the probes that were answered as by a service that is up */
      availability: number | null;
      /**
       * Format: date
       * @description UTC
       */
      day: string;
      /** @description Share of the probes that failed in any way */
      error_rate: number | null;
      /** @description Nearest rank; a probe that failed counts as having taken 10,000 ms */
      latency_p50_ms: number | null;
      latency_p95_ms: number | null;
      /** @description Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours */
      probes: number;
    };
    /**
     * @description ok: answered as by a service that is up, 401, 402 and 403 included. error: 404, 410, 5xx or no valid HTTP. timeout, unreachable: no answer. refused: a target that is never fetched, such as a private address
     * @enum {string}
     */
    ProbeOutcome: "ok" | "error" | "timeout" | "unreachable" | "refused";
    /** @description RFC 9457 problem details */
    Problem: {
      /** @description What was given and what was expected */
      detail: string;
      /** @description Path of the request */
      instance: string;
      request_id: string;
      status: number;
      title: string;
      /** @description Where the problem is explained, on this host */
      type: string;
    };
    /** @description What the oracle contract holds; null while it holds nothing */
    Published: {
      /** @description Integer 0 to 100; null for a wallet without enough history */
      ahs_score: number | null;
      as_of_block: number;
      grade: components["schemas"]["Grade"];
      /**
       * @description EIP-55 address
       * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
       */
      oracle: string;
      /**
       * Format: date-time
       * @description ISO 8601, UTC
       */
      published_at: string;
      tx_hash: string;
    } | null;
    Readiness: {
      checks: {
        database: components["schemas"]["ReadinessCheck"];
        index: components["schemas"]["ReadinessCheck"];
      };
      /** @description How fresh each source is, whatever the status; null while it cannot be read */
      sanctions: components["schemas"]["SanctionsSource"][] | null;
      /** @enum {string} */
      status: "ok" | "unavailable";
    };
    ReadinessCheck: {
      detail: string;
      ok: boolean;
    };
    Risk: {
      /**
       * @description EIP-55 address
       * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
       */
      address: string;
      /** @description Integer 0 to 100; null for a wallet without enough history */
      ahs_score: number | null;
      /** @description Block of the score; null without one */
      as_of_block: number | null;
      chain_id: number;
      confidence: number;
      confidence_level: components["schemas"]["ConfidenceLevel"];
      counterparty_exposure: components["schemas"]["CounterpartyExposure"];
      /**
       * @description Why counterparty_exposure is null
       * @enum {string|null}
       */
      counterparty_exposure_reason: "not_followed" | "no_contacts" | null;
      grade: components["schemas"]["Grade"];
      /** @enum {string} */
      reason: "scored" | "insufficient_history" | "not_scored" | "sanctioned";
      /**
       * @description LOW up to 25, grades A and B; MEDIUM up to 40, grade C; HIGH up to 80, grades D and E; CRITICAL above, grade F; UNKNOWN without a score
       * @enum {string}
       */
      risk_level: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL" | "UNKNOWN";
      /** @description 100 is the worst; null where too little is known, which is no sign of risk */
      risk_score: number | null;
      /** @description Newest indexed block, at which lists were looked up */
      sanctions_as_of_block: number;
      sanctions_flags: components["schemas"]["SanctionsFlag"][];
      /**
       * Format: date-time
       * @description Time of the block that the score is as of
       */
      scored_at: string | null;
      /** @description The worst first */
      signals: components["schemas"]["RiskSignal"][];
      /** @description The score is older than 24 hours; null without one */
      stale: boolean | null;
      verdict: string;
    };
    RiskSignal: {
      detail: string;
      /** @description A pattern, feature or cap of the model, or sanctioned, listed_counterparties, failing_counterparties */
      name: string;
      /** @enum {string} */
      severity: "info" | "warning" | "critical";
    };
    /** @enum {string} */
    RoutingAction: "instant_settle" | "escrow" | "reject";
    RoutingDecision: {
      action: components["schemas"]["RoutingAction"];
      /**
       * @description EIP-55 address
       * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
       */
      address: string;
      /** @description Equal to ahs_score */
      agent_health_score: number | null;
      /** @description Integer 0 to 100; null for a wallet without enough history */
      ahs_score: number | null;
      allowlisted: boolean;
      confidence: number;
      confidence_level: components["schemas"]["ConfidenceLevel"];
      grade: components["schemas"]["Grade"];
      grade_label: string;
      /** @description Whether a policy of the caller, and not the default table, decided */
      policy_applied: boolean;
      /** @enum {string} */
      reason:
        | "sanctioned"
        | "allowlist"
        | "confidence_override"
        | "grade"
        | "escrow_disabled"
        | "insufficient_history"
        | "not_scored";
      routing_recommendation: components["schemas"]["RoutingAction"] & unknown;
      /**
       * Format: date-time
       * @description Time of the block that the score is as of
       */
      scored_at: string | null;
      /** @description The score is older than 24 hours; null without one */
      stale: boolean | null;
    };
    SanctionsFlag: {
      /**
       * Format: date-time
       * @description ISO 8601, UTC
       */
      detected_at: string;
      /** @description Transaction hash of the listing, the block at which the contract was asked, or the unique id of OFAC */
      reference: string;
      /** @enum {string} */
      source: "chainalysis-oracle" | "ofac-sdn";
    };
    SanctionsSource: {
      age_seconds: number | null;
      /**
       * Format: date-time
       * @description Until when the source is known: its newest block or last import; null if never
       */
      checked_at: string | null;
      /** @description The block, or the list's own date */
      edition: string | null;
      entries: number;
      /** @description keccak256 of the RFC 8785 form of its {address, reference} entries by address */
      list_hash: string | null;
      /** @enum {string} */
      source: "chainalysis-oracle" | "ofac-sdn";
      /** @description Wallets that the contract still has to be asked about; null for a list */
      unasked_wallets: number | null;
    };
    ValidationError: {
      ctx?: {
        [key: string]: unknown;
      };
      input?: unknown;
      loc: (string | number)[];
      msg: string;
      type: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  get_ahs_address: {
    parameters: {
      query?: {
        /** @description A URL of the agent, shown with the infrastructure. It counts where it equals or lies under an endpoint that the wallet's agents declare; any other is visited once and scores nothing. A URL that leads anywhere but to a public https host is refused. */
        agent_url?: string;
        /** @description Parts to add, separated by commas */
        include?: ("features" | "history" | "attestation" | "infrastructure")[];
      };
      header?: never;
      path: {
        /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
        address: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
           *       "ahs_score": 84,
           *       "grade": "B",
           *       "grade_label": "Good",
           *       "d1_score": 88,
           *       "d2_score": 82,
           *       "d3_score": null,
           *       "mode": "2D",
           *       "sanctions_flags": [],
           *       "trust_routing": "instant_settle",
           *       "confidence": 0.81,
           *       "confidence_level": "HIGH",
           *       "patterns": [],
           *       "trend": "stable",
           *       "timestamp": "2026-11-20T10:00:05.000Z",
           *       "model_version": "AHS-2026.1",
           *       "chain_id": 31337,
           *       "as_of_block": 7969,
           *       "as_of_time": "2026-11-20T09:58:00.000Z",
           *       "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
           *       "coverage": {
           *         "from_block": 1,
           *         "to_block": 7969,
           *         "complete": true,
           *         "sources": [
           *           "index"
           *         ]
           *       },
           *       "published": {
           *         "oracle": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
           *         "ahs_score": 84,
           *         "grade": "B",
           *         "as_of_block": 7960,
           *         "tx_hash": "0x96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
           *         "published_at": "2026-11-20T09:57:30.000Z"
           *       },
           *       "stale": false
           *     }
           */
          "application/json": components["schemas"]["AhsRecord"];
        };
      };
      /** @description API key missing, or API key unknown, or API key expired, or API key revoked */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description API key balance insufficient */
      402: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Wallet not indexed */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description The path, query or body does not fit */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HTTPValidationError"];
        };
      };
      /** @description Internal error */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Index unavailable, or Index behind the chain, or Scoring unavailable, or History unavailable, or Database unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_ahs_route_address: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
        address: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The decision */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
           *       "action": "instant_settle",
           *       "ahs_score": 84,
           *       "grade": "B",
           *       "grade_label": "Good",
           *       "confidence": 0.81,
           *       "confidence_level": "HIGH",
           *       "reason": "grade",
           *       "scored_at": "2026-11-20T09:58:00.000Z",
           *       "stale": false,
           *       "policy_applied": false,
           *       "allowlisted": false,
           *       "agent_health_score": 84,
           *       "routing_recommendation": "instant_settle"
           *     }
           */
          "application/json": components["schemas"]["RoutingDecision"];
        };
      };
      /** @description API key missing, or API key unknown, or API key expired, or API key revoked */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description API key balance insufficient */
      402: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description The path, query or body does not fit */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HTTPValidationError"];
        };
      };
      /** @description Internal error */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Index unavailable, or Index behind the chain, or Database unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_epochs_epoch: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Number of the epoch, as in the oracle's RootPublished event */
        epoch: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The list */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "epoch": 20777,
           *       "root": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
           *       "created_at": "2026-11-20T02:00:00.000Z",
           *       "leaves": [
           *         {
           *           "wallet": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
           *           "record": "0x545852202a6c00000000000000000000000000000000000000000000000000f1",
           *           "proof": [
           *             "0x96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
           *           ]
           *         }
           *       ]
           *     }
           */
          "application/json": components["schemas"]["Epoch"];
        };
      };
      /** @description Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description The path, query or body does not fit */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HTTPValidationError"];
        };
      };
      /** @description Internal error */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Database unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_inputs_hash: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description keccak256 of the file's RFC 8785 form for inputs and policies; its SHA-256 for all others */
        hash: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The file */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "version": "AHS-2026.1"
           *     }
           */
          "application/json": Record<string, never> | unknown[];
        };
      };
      /** @description Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description The path, query or body does not fit */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HTTPValidationError"];
        };
      };
      /** @description Internal error */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Database unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_livez: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description It runs */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "status": "ok"
           *     }
           */
          "application/json": {
            /** @enum {string} */
            status: "ok";
          };
        };
      };
    };
  };
  get_readyz: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Ready */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "status": "ok",
           *       "checks": {
           *         "database": {
           *           "ok": true,
           *           "detail": "answers"
           *         },
           *         "index": {
           *           "ok": true,
           *           "detail": "block 7999 is 3 s old, at most 120 s allowed"
           *         }
           *       },
           *       "sanctions": [
           *         {
           *           "source": "chainalysis-oracle",
           *           "checked_at": "2026-11-20T09:59:57.000Z",
           *           "age_seconds": 3,
           *           "edition": "block 7999",
           *           "entries": 1,
           *           "list_hash": "0x3e9cc35d2f8e9d8f5e0a4b2a4e2c7b8fb38d1f1f4c5c0e6d4f3d2c1b0a998877",
           *           "unasked_wallets": 0
           *         },
           *         {
           *           "source": "ofac-sdn",
           *           "checked_at": "2026-11-20T06:00:00.000Z",
           *           "age_seconds": 14400,
           *           "edition": "2026-11-18",
           *           "entries": 91,
           *           "list_hash": "0x91d3e0a4b7c25f608f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978",
           *           "unasked_wallets": null
           *         }
           *       ]
           *     }
           */
          "application/json": components["schemas"]["Readiness"];
        };
      };
      /** @description Internal error */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not ready */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Readiness"];
        };
      };
    };
  };
  get_risk_address: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
        address: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The risk */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
           *       "risk_score": 16,
           *       "risk_level": "LOW",
           *       "verdict": "Low risk: gas efficiency.",
           *       "signals": [
           *         {
           *           "name": "gas_efficiency",
           *           "severity": "warning",
           *           "detail": "52 of 100 points: 0.031 (share of fees burnt) from 300 samples"
           *         }
           *       ],
           *       "sanctions_flags": [],
           *       "sanctions_as_of_block": 7994,
           *       "counterparty_exposure": {
           *         "share": 0.004,
           *         "listed_share": 0,
           *         "failing_share": 0.004,
           *         "sent_usd": 18240.5,
           *         "counterparties": 12,
           *         "listed_counterparties": 0,
           *         "failing_counterparties": 1,
           *         "of": "value sent in native coin and priced tokens; calls where none was",
           *         "since": "2026-08-22T07:12:00.000Z",
           *         "as_of_block": 7969
           *       },
           *       "counterparty_exposure_reason": null,
           *       "ahs_score": 84,
           *       "grade": "B",
           *       "confidence": 0.81,
           *       "confidence_level": "HIGH",
           *       "reason": "scored",
           *       "scored_at": "2026-11-20T09:58:00.000Z",
           *       "stale": false,
           *       "as_of_block": 7969,
           *       "chain_id": 31337
           *     }
           */
          "application/json": components["schemas"]["Risk"];
        };
      };
      /** @description API key missing, or API key unknown, or API key expired, or API key revoked */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description API key balance insufficient */
      402: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description The path, query or body does not fit */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["HTTPValidationError"];
        };
      };
      /** @description Internal error */
      500: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Index unavailable, or Index behind the chain, or Database unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
}
