// Written by npm run generate from the OpenAPI document of Agent Health output verification.

export interface paths {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether verification works
         * @description 200 when the database answers, no verdict has waited too long for a worker, the model server lists its models, the index is fresh and the node, where one is configured, reports its newest block; else 503 with the same body. `model` asks for the list alone: whether the configured model answers a question shows in the verdicts. Without a configured model it is `not_configured`: that is no fault, and outputs are refused. Each check takes two seconds at most; database and queue are looked at again after two seconds, model and chain after five.
         */
        get: operations["check_verification_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/appeals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Terms and figures of appeals
         * @description Terms of appeals, and what the second panel decided in the last 90 days. `enabled` is false without a second panel. Figures are at most half a minute old.
         */
        get: operations["get_appeals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/outputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a delivered output judged
         * @description Has a panel of six roles judge an output against its specification, for 0.50 USD, charged before the work. Poll the verdict at `GET /v1/verdicts/{verdict_id}`, or give a `webhook_url`.
         *
         *     - An output has one verdict: posting it again returns that verdict to every caller and is not charged, whatever the key's balance; a payment is not taken. While another submission of the same output is being paid, the answer waits for it, up to a 409.
         *     - If the specification is bound to a job, there is one verdict per job and deliverable, `provider_addr` must be the job's provider, and the verdict moves the escrow. The output must be the text that the provider submitted on chain: before that, and until the index shows it, the answer is 409 `job-not-submitted`; for any other text it is 409 `deliverable-differs`.
         *     - A payment by x402's scheme `auth-capture` waits in the payment escrow until the verdict is decided. If the panel fails, the payer gets it back.
         *     - A failed verdict is replaced by the next submission, which is charged, after its third retry or once its payment is given back. One of a job is replaced at once by the submission of another party, so that neither party depends on who was quicker.
         *     - An unknown specification is not charged, nor is a submission that is refused or comes while no panel can run.
         *     - The price bounds the texts: specification, criteria and output together may take about 60,000 characters of English, by the operator's prices of tokens; larger ones are 422 with both sizes.
         *     - Half of the tokens that the panel may use per UTC day are for outputs of jobs alone, a quarter for re-runs. No key and no wallet takes more of a day than it leaves to the others, and outputs that wait, or fail by their texts, take no more than its verdicts and two large ones. Once many prices of a day have gone back without a verdict, a new key is refused, and a payment by `exact` is taken: 503 `panel-budget-spent`.
         */
        post: operations["verify_output"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/receipt-mappings/{mapping_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rules by which a receipt's gate is derived
         * @description The mapping that a receipt names, as RFC 8785 JSON whose SHA-256 the receipt signs. It never changes: other rules get another id.
         */
        get: operations["get_receipt_mapping"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/specs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a job specification
         * @description Registers what an output is going to be judged by, free of charge; every call registers anew. Put `job_description_tag` of the answer into the job's description, or have the job's client sign the specification, before the delivery. Without one of them the specification is used for judging but settles no escrow. A `client_signature` is verified here: one that is not the on-chain client's for this job and hash is refused (422), as are texts with invisible characters and texts that leave an output no room in the panel's models. `erc8183_job_id` without `escrow` is on record and binds nothing. At most 20 a minute and 20 MB a day from one address, counted in UTF-8; with `X-API-Key` as many a minute as the key may make calls, and, once it was charged 1 USD within a day, 200 MB a day (429 beyond). Beyond what the service takes from all in a day the answer is 503. One that names no escrow's job and gets no output is forgotten after a day, as is one that names a job that the index never saw; one that names a job once that is over.
         */
        post: operations["register_spec"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A verdict on a delivered output
         * @description Free, for every caller who knows the id. Poll it every second or two until the status is `completed` or `failed`, or give the output a `webhook_url`. A completed verdict carries an `ETag`: with it in `If-None-Match` the answer is 304 until something changes. Its settlement, a HOLD, and a decision that is appealed can still change. `settlement.signed` holds the signature for a job's escrow: anyone may submit it to the evaluator.
         */
        get: operations["get_verdict"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}/appeal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a second panel decide
         * @description A second panel, of another model, judges the same texts anew. ALLOW and REJECT of it take the place of the first decision; after a HOLD of it the first one is settled. Nothing is signed before it.
         *
         *     - Price: `appeal.price_usd` of the verdict, which the caller repeats in `price_usd`. It is a quarter of what the decision moves, at least 0.50 USD, and comes back if the second panel decides the opposite.
         *     - What: ALLOW and REJECT of a job, once, from the time that the decision is ready to be settled until `appeal.appeal_by` of the verdict. HOLD, decisions of reviewers and decisions on appeal cannot be appealed.
         *     - Who: the job's client or provider, paying by x402 from its wallet or by a key that this wallet bought, or the key or wallet that submitted the output. A repeat by the same caller is free.
         *     - Without a decision until `decide_by` the first one is settled and the price goes back: to the key, or for a payment as the credits of a key of the paying wallet, whose secret `POST /keys/rotate` makes.
         *
         *     `GET /v1/appeals` counts how many were overturned.
         */
        post: operations["appeal_verdict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Deliveries to the webhook of an output
         * @description Every event of the last 30 days that was sent to the `webhook_url` of the output, newest first, with each attempt to deliver it; none where the output came without one. For the submission's own key in `X-API-Key` or a `SIGN-IN-WITH-X` of the wallet that paid; 403 for everyone else.
         */
        get: operations["list_verdict_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Evidence of a verdict
         * @description The very bytes whose keccak256 is the verdict's `evidence_hash`, and the `reason` at the job's escrow: hashes, findings and quotes of at most 200 characters, as RFC 8785 JSON; never the texts. `Content-Digest` is their SHA-256 (RFC 9530). 404 before the first decision, 410 once it was erased with the texts on request.
         */
        get: operations["get_evidence"];
        put?: never;
        /**
         * Hand in evidence for a verdict on HOLD
         * @description Free. Accepts up to three texts for the one re-run, each of about a sixth of what a verdict is sold for, some 10,000 characters of English, that evidence causes. The re-run starts when the third text arrives, when one has `final`, or ten minutes after the first; `rerun_at` says when. Allowed for the key that submitted the output, the wallet that paid for it, and the job's client and provider, signed in by `SIGN-IN-WITH-X`. If the verdict decides on a job, one text is kept for its client and one for its provider, each proven by its wallet, and the third is open to all of these. `final` then ends the caller's own turn: the re-run waits for both, or for ten minutes, but no longer than half the time to the job's `review_by` (after that, to its expiry). The panel reads the texts as data, as it reads the output. The earlier decision is valid until the new one is stored. With the re-run at half of a held job's time there are two re-runs at most.
         */
        post: operations["offer_evidence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}/receipt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Signed receipt of a verdict
         * @description The newest decision as a JWS by a key of `/.well-known/jwks.json`, in the shape of verification.v0.3, a candidate profile beside ERC-8210 (draft-krausz-verification-state-01). ALLOW is supported and act, REJECT refuted and halt, HOLD unverifiable and halt. `v_recommendation` and `v_gate` follow from the other members by the rules at `GET /v1/receipt-mappings/{mapping_id}`, whose SHA-256 is `v_gate_mapping_hash`: compute them again, and take anything that differs, or is expired, for halt. `subject.claim_hash` is the SHA-256 of the RFC 8785 JSON `{output_hash, spec_hash}`. 409 until the verdict is completed.
         */
        get: operations["get_receipt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a failed verdict run again
         * @description Queues a verdict that failed again, up to three times, for the API key or the wallet that submitted its output. A payment is never taken a second time. A key had its credits returned when the verdict failed: they are taken again. Where the output is a job's and no credits were returned, the job's client and provider may ask as well, signed in. After the third failure posting the output again buys a new verdict in its place; a job's output that another caller posts buys one at once.
         */
        post: operations["retry_verdict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide on a verdict on HOLD, or a failed one of a job
         * @description For reviewers: an API key of the operator with the scope `review` (`ahs keys create --scope review`). The decision is one of its own in methodology.runs, with new evidence that names the key and the reason, and settles the job where there is one; leaving it on HOLD takes no call. A verdict of a job that failed may be decided too, so that the job has an end: its answer has no score, no confidence and no findings then. 409 for any other verdict.
         */
        post: operations["review_verdict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verdicts/{verdict_id}/texts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Texts that a verdict is about
         * @description Specification, output and evidence as they were sent, for the submission's own key in `X-API-Key` or a `SIGN-IN-WITH-X` of the wallet that paid; 403 for everyone else. Texts are dropped after some time (90 days unless the operator chose another), or by `DELETE` of this path: from then on 410, while verdict and evidence stay.
         */
        get: operations["get_verdict_texts"];
        put?: never;
        post?: never;
        /**
         * Erase the texts of a verdict
         * @description Erases for good the output, the evidence texts, the models' answers, and what quotes them in the decisions and their evidence documents. Hashes, verdict, scores, rules and evidence hashes stay.
         *
         *     - Texts and evidence are answered 410 then: fetch the evidence first if you may need to prove the `reason` on chain.
         *     - For the key that submitted the output, the wallet that paid for it, and its client and provider, signed in by `SIGN-IN-WITH-X`. If the client asks by its wallet, its specification is erased as well, unless another verdict or an open job needs it.
         *     - 409 while the verdict is pending or run again, while its job can still be settled by it, and while it failed and its payer can have it retried, unless the payer asks. Asking again answers the same. Backups keep what they held.
         */
        delete: operations["erase_verdict_texts"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "verdict.appeal_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An appeal gave no decision: the appealed one is settled, and the price went back. */
        post: operations["webhook_verdict_appeal_failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "verdict.appeal_held": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The second panel decided HOLD: the appealed decision is settled. */
        post: operations["webhook_verdict_appeal_held"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "verdict.appealed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A decision is under appeal: it is not settled before the second panel's, which is an event of its own. */
        post: operations["webhook_verdict_appealed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "verdict.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A verdict is ALLOW or REJECT. */
        post: operations["webhook_verdict_completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "verdict.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** No verdict could be made, and none will be unless it is retried. */
        post: operations["webhook_verdict_failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "verdict.held": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A verdict is HOLD: evidence may be handed in, or a reviewer decide. */
        post: operations["webhook_verdict_held"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "verdict.review_due": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A quarter of a held job's time is left: without a decision its client is refunded when it runs out. */
        post: operations["webhook_verdict_review_due"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AppealedVerdict: {
            /**
             * Format: date-time
             * @description Without a decision until then the appeal fails, and its price goes back
             * @example 2026-11-20T09:58:00.000Z
             */
            decide_by: string;
            /**
             * @description As `appeal.status` of the verdict, which changes with the second panel's decision
             * @enum {string}
             */
            status: "open" | "upheld" | "overturned" | "held" | "failed";
            /** Format: uuid */
            verdict_id: string;
        };
        Appeals: {
            /**
             * @description Days that the figures are about
             * @example 90
             */
            days: number;
            /**
             * @description Appeals with a decision of the second panel
             * @example 12
             */
            decided: number;
            /**
             * @description Whether decisions on jobs can be appealed here
             * @example true
             */
            enabled: boolean;
            /**
             * @description Without a decision in time: the first was settled, and the price went back
             * @example 0
             */
            failed: number;
            /**
             * @description With HOLD: the first decision was settled
             * @example 1
             */
            held: number;
            /** @example 0.500 */
            least_price_usd: string;
            /**
             * @description Model of the second panel
             * @example other-model-1
             */
            model: string | null;
            /**
             * @description Under way now
             * @example 1
             */
            open: number;
            /**
             * @description `overturned` of `decided`, to 0.0001; null without any
             * @example 0.1667
             */
            overturn_rate: number | null;
            /**
             * @description With the opposite decision
             * @example 2
             */
            overturned: number;
            /**
             * @description Of what the decision moves: the price, if that is more
             * @example 25
             */
            price_percent: number;
            /**
             * @description With the same decision
             * @example 9
             */
            upheld: number;
            /**
             * @description Longest time to appeal; a quarter of the time to the job's expiry, if that is less
             * @example 600
             */
            window_seconds: number | null;
        };
        /**
         * @description HOLD: not enough to adjudicate, which is no rejection
         * @enum {string}
         */
        Decision: "ALLOW" | "HOLD" | "REJECT";
        Delivery: {
            attempts: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                at: string;
                /** @example The endpoint answered 503. */
                failure: string | null;
                /** @example 41 */
                latency_ms: number;
                /**
                 * @description What the endpoint answered; null where it did not
                 * @example 503
                 */
                status: number | null;
            }[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            delivered_at: string | null;
            /**
             * @description The webhook-id of every attempt
             * @example msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10
             */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            next_attempt_at: string | null;
            /**
             * @description What is sent
             * @example {
             *       "type": "subscription.test",
             *       "timestamp": "2026-11-20T09:58:00.000Z",
             *       "data": {}
             *     }
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * @description failed: given up after the last attempt, or answered 410. dropped: its endpoint or subscription ended first. Both can be replayed
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed" | "dropped";
            /** @example subscription.test */
            type: string;
        };
        EvidenceInput: {
            /**
             * @description Whether the re-run need not wait for more of the caller's
             * @default false
             */
            final?: boolean;
            /** @example The sources of rows 4 to 9, with the pages that were cited. */
            text: string;
        };
        /** @description What one role of the panel found: 20 objections at most, no text of more than 200 characters */
        Finding: {
            /**
             * @description Why it abstained or was not asked; null where the role answered
             * @example null
             */
            abstained: string | null;
            /** @example 0.88 */
            confidence: number | null;
            criteria: {
                /** @example All 12 rows carry a source. */
                evidence: string;
                /** @example c1 */
                id: string;
                /**
                 * @description Null where the role does not know
                 * @example true
                 */
                met: boolean | null;
            }[];
            /** @example scripted */
            model: string;
            /** @example [] */
            objections: string[];
            /** @enum {string} */
            role: "criteria_auditor" | "domain_expert" | "evidence_checker" | "user_advocate" | "critic" | "synthesiser";
            /** @example 86 */
            score: number | null;
            /** @description A generator's vote; null for critic and synthesiser, and where it abstained */
            verdict: components["schemas"]["Decision"] | null;
        };
        /** @description All faults of the request, in the order of its fields */
        HTTPValidationError: {
            detail?: components["schemas"]["ValidationError"][];
        };
        KeptEvidence: {
            /** @description Texts that the verdict has now */
            count: number;
            /**
             * Format: date-time
             * @description When the verdict is run again, or soon after
             * @example 2026-11-20T09:58:00.000Z
             */
            rerun_at: string;
            /**
             * @description keccak256 of the text's UTF-8 bytes
             * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            text_hash: string;
            /** Format: uuid */
            verdict_id: string;
        };
        Methodology: {
            /**
             * @description By role
             * @example {
             *       "criteria_auditor": "scripted",
             *       "critic": "scripted"
             *     }
             */
            models: {
                [key: string]: string;
            };
            /**
             * @description Null, as prompt_hash, for a review of a verdict that had failed: it names no models
             * @example panel-2026.1
             */
            panel_version: string | null;
            /**
             * @description keccak256 over all prompts and schemas
             * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            prompt_hash: string | null;
            /** @example null */
            review_reason: string | null;
            /**
             * @description Null for a decision of the panel
             * @example null
             */
            reviewed_by: string | null;
            /**
             * @description Rules that changed the outcome, in their order
             * @example []
             */
            rules_fired: string[];
            /** @description Every decision so far, oldest first; the last one is valid */
            runs: {
                /** @enum {string} */
                cause: "submitted" | "retried" | "evidence" | "near_expiry" | "appeal" | "review";
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                evaluated_at: string;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                evidence_hash: string;
                final_verdict: components["schemas"]["Decision"];
                run: number;
            }[];
            /**
             * @example {
             *       "domain": "default",
             *       "confidence": 0.7
             *     }
             */
            thresholds: {
                confidence: number;
                domain: string;
            };
            voting: components["schemas"]["Voting"];
        } | null;
        OutputRequest: {
            /**
             * @default standard
             * @enum {string}
             */
            mode?: "standard";
            /**
             * @description What was delivered. For a job its UTF-8 bytes have to be those whose keccak256 is the deliverable on chain
             * @example 1, 2, 3
             */
            output_text: string;
            /**
             * @description Wallet of the agent that delivered; where the specification is bound to a job, that job's provider
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            provider_addr: string;
            /**
             * Format: uuid
             * @description As POST /v1/specs answered it
             * @example 5b1c6a0e-4a1f-4f0e-9b57-0d7a3a1de2c4
             */
            spec_id: string;
            /**
             * @default client
             * @enum {string}
             */
            submitted_by?: "client" | "agent" | "protocol";
            /**
             * @description Wallet of the submitter
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            submitter_addr: string;
            /**
             * Format: uri
             * @description Where the verdict's events are POSTed (Standard Webhooks 1.0.0). A URL that leads anywhere but to a public https host is refused
             * @default null
             */
            webhook_url?: string | null;
        };
        /** @description The terms of x402 version 2 */
        PaymentRequired: {
            accepts: ({
                /** @description In the token's smallest unit */
                amount: string;
                /** @description Contract of the token */
                asset: string;
                maxTimeoutSeconds: number;
                /** @description CAIP-2 */
                network: string;
                payTo: string;
                /** @enum {string} */
                scheme: "exact" | "upto" | "auth-capture" | "batch-settlement";
            } & {
                [key: string]: unknown;
            })[];
            /** @description Why the request was not served */
            error?: string;
            /** @description `payment-identifier`; `bazaar`: the input and an example of the answer; `offer-receipt`: the entries of `accepts`, signed */
            extensions?: {
                [key: string]: unknown;
            };
            resource: {
                url: string;
            } & {
                [key: string]: unknown;
            };
            /** @enum {number} */
            x402Version: 2;
        } & {
            [key: string]: unknown;
        };
        /** @description RFC 9457 problem details */
        Problem: {
            /** @description Of a payment that is held or has moved: send it back in X-Payment-Claim */
            claim?: string;
            /** @description What was given and what was expected */
            detail: string;
            /** @description Path of the request */
            instance: string;
            request_id: string;
            status: number;
            title: string;
            /** @description Where the problem is explained, on this host or at IANA */
            type: string;
            /** @description Limits of RateLimit-Policy that were exceeded */
            "violated-policies"?: string[];
        };
        /** @description A JWS in flattened JSON (RFC 7515) */
        Receipt: {
            /**
             * @description base64url of RFC 8785 JSON
             * @example eyJleHAiOjE3NjYyMjQ4MDksImlhdCI6MTc2MzYzMjgwOSwi…
             */
            payload: string;
            /**
             * @description base64url of the header: alg "EdDSA", kid (RFC 7638 thumbprint), typ "application/vnd.verification.v0.3+jws"
             * @example eyJhbGciOiJFZERTQSIsImtpZCI6IuKApiJ9
             */
            protected: string;
            /** @example 3Yt0mVb… */
            signature: string;
        };
        /**
         * @example {
         *       "mapping_id": "agent-health-v0.3-2026-11-20-t070",
         *       "v_gate_threshold": 0.7,
         *       "rules": [
         *         {
         *           "when": {
         *             "v_verdict": "refuted"
         *           },
         *           "v_recommendation": "refuted"
         *         },
         *         {
         *           "when": {
         *             "v_verdict": "unverifiable"
         *           },
         *           "v_recommendation": "unverifiable"
         *         },
         *         {
         *           "when": {
         *             "v_verdict": "supported",
         *             "v_method": "review"
         *           },
         *           "v_recommendation": "confident_supported"
         *         },
         *         {
         *           "when": {
         *             "v_verdict": "supported",
         *             "v_adversarial_result": "vulnerable"
         *           },
         *           "v_recommendation": "vulnerable_supported"
         *         },
         *         {
         *           "when": {
         *             "v_verdict": "supported",
         *             "v_confidence": "below_threshold"
         *           },
         *           "v_recommendation": "weak_supported"
         *         },
         *         {
         *           "when": {
         *             "v_verdict": "supported",
         *             "v_adversarial_result": "not_checked"
         *           },
         *           "v_recommendation": "un_probed_not_cleared"
         *         },
         *         {
         *           "when": {
         *             "v_verdict": "supported"
         *           },
         *           "v_recommendation": "confident_supported"
         *         }
         *       ],
         *       "gates": {
         *         "confident_supported": "act",
         *         "un_probed_not_cleared": "halt",
         *         "vulnerable_supported": "halt",
         *         "weak_supported": "halt",
         *         "refuted": "halt",
         *         "unverifiable": "halt"
         *       }
         *     }
         */
        ReceiptMapping: {
            gates: {
                [key: string]: "act" | "halt";
            };
            mapping_id: string;
            /** @description The first whose members all equal the receipt's decides; at_least_threshold and below_threshold compare v_confidence with v_gate_threshold */
            rules: {
                v_recommendation: string;
                when: {
                    [key: string]: string;
                };
            }[];
            v_gate_threshold: number;
        };
        RetriedVerdict: {
            /** @enum {string} */
            status: "pending";
            /** Format: uuid */
            verdict_id: string;
        };
        ReviewedVerdict: {
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            evidence_hash: string;
            /** @enum {string} */
            final_verdict: "ALLOW" | "REJECT";
            /** @example Trust desk */
            reviewed_by: string;
            /**
             * @description The decision's number, as in methodology.runs
             * @example 2
             */
            run: number;
            /** Format: uuid */
            verdict_id: string;
        };
        ReviewInput: {
            /**
             * @example ALLOW
             * @enum {string}
             */
            decision: "ALLOW" | "REJECT";
            /**
             * @description Part of the evidence
             * @example The sources handed in cover every row.
             */
            reason: string;
        };
        /** @description Null where the specification names no job */
        Settlement: {
            /** @example 8453 */
            chain_id: number | null;
            /**
             * @description EIP-55 address
             * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
             */
            escrow: string | null;
            /**
             * @description Hexadecimal, as erc8183_job_id
             * @example 0x7
             */
            job_id: string;
            /**
             * @description Why nothing is signed, or it was refused, where that is known
             * @example null
             */
            reason: string | null;
            /**
             * Format: date-time
             * @description Of a held job: when a quarter of its time is left; a person has to decide by then
             * @example null
             */
            review_by: string | null;
            signed: components["schemas"]["SignedVerdict"];
            /**
             * @description unbound: the specification is not the job's, so nothing is ever signed. waiting: there is no decision yet, or it has not been processed. waiting_for_submission, waiting_for_finality: the job's delivery is not on chain, or not final. appealable: it is signed once its time to appeal is over. appealed: a second panel judges. suspended: it cannot be settled now. signed: on its way to the evaluator. settled: the escrow paid or refunded, in a final block. held: the HOLD is on record in a final block, or was given after the job's expiry, when none is taken, and the escrow is untouched. expired_on_hold: the job ran out while held, so its client may take the money back. refused: it is never carried out. expired: the job ran out first, or the signature, which is made anew while the job can be decided
             * @example settled
             * @enum {string}
             */
            status: "unbound" | "waiting" | "waiting_for_submission" | "waiting_for_finality" | "appealable" | "appealed" | "suspended" | "signed" | "settled" | "held" | "expired_on_hold" | "refused" | "expired";
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            tx_hash: string | null;
        } | null;
        /** @description Null where the newest decision is not signed. Anyone may bring it: `settle(escrow, jobId, verdict, signature)` of the evaluator, for a HOLD `hold`, by the deadline. It counts once */
        SignedVerdict: {
            /**
             * @description The contract that it was signed for
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            evaluator: string;
            /** @example 0x9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999 */
            signature: string;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            signer: string;
            /** @description The EIP-712 struct, its members in the order of `Verdict` */
            verdict: {
                /** @example 8800 */
                confidence_bps: number;
                /**
                 * @description Unix seconds; the last at which it may be brought
                 * @example 1795255220
                 */
                deadline: number;
                /** @description 1 ALLOW, 2 REJECT, 3 HOLD */
                decision: number;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                deliverable: string;
                /**
                 * @description EIP-55 address
                 * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
                 */
                escrow: string;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                evidence_hash: string;
                /**
                 * @description Unix seconds
                 * @example 1795168820
                 */
                issued_at: number;
                /**
                 * @description Hexadecimal
                 * @example 0x7
                 */
                job_id: string;
                /** @example 86 */
                score: number;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                spec_hash: string;
            };
        } | null;
        Spec: {
            binding: components["schemas"]["SpecBindingStatus"];
            /**
             * @description The tag to put into the job's on-chain description, as it is; it binds the specification to the job
             * @example ahs-spec:0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            job_description_tag: string;
            /**
             * @description keccak256 of the RFC 8785 JSON of client_addr, provider_addr, spec_text, acceptance_criteria and domain, after defaults, addresses in EIP-55
             * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            spec_hash: string;
            /** Format: uuid */
            spec_id: string;
        };
        /**
         * @description Whether the chain now shows that the specification belongs to the job that it names; null if it names no job of an escrow
         * @example null
         */
        SpecBindingStatus: {
            /** @description Why it is not bound, or not known to be */
            reason: string | null;
            /**
             * @description unknown: node or index gives no answer now; it is checked again when an output comes
             * @enum {string}
             */
            status: "bound" | "unbound" | "unknown";
        } | null;
        SpecRequest: {
            /**
             * @description What has to be met, one item a line; of more than thirty items the thirtieth and all after it are judged as one
             * @default null
             */
            acceptance_criteria?: string | null;
            /**
             * @description The escrow's chain; this deployment's unless given
             * @default null
             */
            chain_id?: number | null;
            /**
             * @description Wallet of the client who registers the specification
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            client_addr: string;
            /**
             * @description EIP-712 SpecBinding(address escrow,uint256 jobId,bytes32 specHash) by the job's client, in the domain of name `Agent Health Spec Binding`, version `1`, the chain's id and the evaluator as verifyingContract (`/.well-known/agent-registration.json` names it), for a job whose description does not name the hash. Verified at once, by ERC-1271 for a contract wallet: one that does not fit is refused
             * @default null
             */
            client_signature?: string | null;
            /**
             * @description content, data_pipeline, default, code or financial; any other key is judged by the thresholds of `default`
             * @default default
             */
            domain?: string;
            /**
             * @description The job's id, hexadecimal. Without an escrow it is on record and binds nothing
             * @default null
             */
            erc8183_job_id?: string | null;
            /**
             * @description The ERC-8183 escrow that holds the job
             * @default null
             */
            escrow?: string | null;
            /**
             * @description Wallet of the provider it is meant for, if known
             * @default null
             */
            provider_addr?: string | null;
            /** @description The task, as outputs are judged by it */
            spec_text: string;
        };
        SubmittedOutput: {
            /** @enum {string} */
            status: "pending" | "processing" | "completed" | "failed";
            /** Format: uuid */
            verdict_id: string;
            /** @description Only where a webhook_url was sent: signs the deliveries; only the first answer shows it. Null in a repeat, and where the verdict was there already: its events go where its first submission said */
            webhook_secret?: string | null;
        };
        TextErasure: {
            /**
             * Format: date-time
             * @description Null until a worker has erased them, which takes seconds
             * @example 2026-11-20T09:58:00.000Z
             */
            erased_at: string | null;
            /**
             * Format: date-time
             * @description When the first request was made
             * @example 2026-11-20T09:58:00.000Z
             */
            requested_at: string;
            /** Format: uuid */
            verdict_id: string;
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
        /** @description Members of the result: null until the status is `completed` */
        Verdict: {
            appeal: components["schemas"]["VerdictAppeal"];
            /**
             * @description Mean confidence of those who voted with the majority, in hundredths
             * @example 0.88
             */
            confidence: number | null;
            critic_override_applied: boolean | null;
            /** @example default */
            domain: string | null;
            /**
             * @description Null unless the status is `failed`
             * @example null
             */
            error_message: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            evaluated_at: string | null;
            /**
             * @description keccak256 of the bytes at GET /v1/verdicts/{verdict_id}/evidence, and the `reason` on chain
             * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            evidence_hash: string | null;
            /**
             * @description Median of the generators' scores, rounded half up. Null, as confidence, mdi and generator_majority, for a review of a verdict that had failed: the struct that is signed for the escrow, and receipts, have 0 there
             * @example 86
             */
            final_score: number | null;
            final_verdict: components["schemas"]["Decision"] | null;
            findings: components["schemas"]["Finding"][] | null;
            generator_majority: components["schemas"]["Decision"] | null;
            /** @example [] */
            key_objections: string[] | null;
            /** @example 8412 */
            latency_ms: number | null;
            /**
             * @description Disagreement: population standard deviation of the generators' scores over 50
             * @example 0.06
             */
            mdi: number | null;
            /**
             * @example [
             *       "Every row names its source."
             *     ]
             */
            met_criteria: string[] | null;
            methodology: components["schemas"]["Methodology"];
            /** @enum {string|null} */
            on_chain_action: "complete" | "hold_pending_review" | "reject" | null;
            /**
             * @description keccak256 of the output's UTF-8 bytes
             * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            output_hash: string;
            /**
             * @description How far each role is in the run that is due or under way, without what it says; null without one. Critic and synthesiser are asked only where they can change the verdict
             * @example null
             */
            progress: {
                /** @enum {string} */
                role: "criteria_auditor" | "domain_expert" | "evidence_checker" | "user_advocate" | "critic" | "synthesiser";
                /** @enum {string} */
                status: "waiting" | "asked" | "answered" | "abstained";
            }[] | null;
            /**
             * @description In the panel's words. Here, in key_objections and in strongest_dissent an ellipsis replaces every passage of more than 200 characters that it copied from specification, output or evidence
             * @example The table answers what was asked, and each row names where it is from.
             */
            reasoning: string | null;
            rejection_asymmetry_applied: boolean | null;
            /**
             * @description Of a HOLD that is run again, or of an appeal; the decision is valid until the new one is there
             * @example null
             */
            rerun: {
                /** @enum {string} */
                cause: "submitted" | "retried" | "evidence" | "near_expiry" | "appeal" | "review";
                /** @enum {string} */
                status: "pending" | "processing";
            } | null;
            settlement: components["schemas"]["Settlement"];
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            spec_hash: string;
            /**
             * @description failed: no verdict could be made, `error_message` says why. A verdict with a decision stays completed: `rerun` shows another one on its way
             * @example completed
             * @enum {string}
             */
            status: "pending" | "processing" | "completed" | "failed";
            /** @example Two of the sources are older than a year. */
            strongest_dissent: string | null;
            /** @example [] */
            unmet_criteria: string[] | null;
            /** Format: uuid */
            verdict_id: string;
            zero_history_adjustment_applied: boolean | null;
        };
        /** @description Null before the decision is ready to be settled, and where it cannot be appealed: without a job, on HOLD, after a review, without a second panel, and where the price or a chance of success is missing: see panel.md */
        VerdictAppeal: {
            /**
             * Format: date-time
             * @description End of the time to appeal
             * @example 2026-11-20T09:58:00.000Z
             */
            appeal_by: string;
            /** @description The decision's number, as in methodology.runs */
            appealed_run: number;
            /**
             * @description Null without an appeal
             * @example provider
             * @enum {string|null}
             */
            by: "client" | "provider" | "submitter" | null;
            /**
             * Format: date-time
             * @description An appeal without a decision fails then
             * @example 2026-11-20T09:58:00.000Z
             */
            decide_by: string;
            /**
             * @description Price of the appeal: a quarter of what the decision moves, at least 0.50
             * @example 8.000
             */
            price_usd: string;
            /**
             * @description available: it can be appealed until `appeal_by`. not_appealed: that time is over. open: the second panel judges. upheld: it decided the same. overturned: it decided the opposite, which is valid, and the price went back. held: it decided HOLD, and the first decision is valid. failed: it made no decision until `decide_by`, the first decision is valid, and the price went back
             * @example overturned
             * @enum {string}
             */
            status: "available" | "not_appealed" | "open" | "upheld" | "overturned" | "held" | "failed";
        } | null;
        VerdictAppealedEvent: {
            data: {
                /** @description The appealed decision's number, as in methodology.runs */
                appealed_run: number;
                /**
                 * @example provider
                 * @enum {string}
                 */
                appellant: "client" | "provider" | "submitter";
                /**
                 * Format: date-time
                 * @description Without a decision until then the appeal fails
                 * @example 2026-11-20T09:58:00.000Z
                 */
                decide_by: string;
                final_verdict: components["schemas"]["Decision"] & unknown;
                /** @enum {string} */
                status: "completed";
                /** Format: uuid */
                verdict_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "verdict.appealed";
        };
        VerdictAppealFailedEvent: {
            data: {
                /** @description The decision that is valid */
                appealed_run: number;
                /** @example The second panel made no decision until 2026-11-20T11:00:00.000Z. */
                error_message: string;
                /** @enum {string} */
                status: "completed";
                /** Format: uuid */
                verdict_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "verdict.appeal_failed";
        };
        VerdictAppealHeldEvent: {
            data: {
                /** @description The decision that is valid */
                appealed_run: number;
                /**
                 * @description The second panel's HOLD, as in methodology.runs
                 * @example 2
                 */
                run: number;
                /** @enum {string} */
                status: "completed";
                /** Format: uuid */
                verdict_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "verdict.appeal_held";
        };
        VerdictCompletedEvent: {
            data: {
                /** @enum {string} */
                cause: "submitted" | "retried" | "evidence" | "near_expiry" | "appeal" | "review";
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                evaluated_at: string;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                evidence_hash: string;
                final_verdict: components["schemas"]["Decision"];
                /** @description The decision's number, as in methodology.runs */
                run: number;
                /** @enum {string} */
                status: "completed";
                /** Format: uuid */
                verdict_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "verdict.completed";
        };
        VerdictDeliveries: {
            deliveries: components["schemas"]["Delivery"][];
            /**
             * @description Null on the last page
             * @example null
             */
            next_cursor: string | null;
            /** Format: uuid */
            verdict_id: string;
        };
        VerdictFailedEvent: {
            data: {
                /** @example The panel gave too few answers: domain_expert, evidence_checker and critic abstained. */
                error_message: string;
                /** @enum {string} */
                status: "failed";
                /** Format: uuid */
                verdict_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "verdict.failed";
        };
        VerdictHeldEvent: {
            data: {
                /** @enum {string} */
                cause: "submitted" | "retried" | "evidence" | "near_expiry" | "appeal" | "review";
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                evaluated_at: string;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                evidence_hash: string;
                final_verdict: components["schemas"]["Decision"] & unknown;
                /** @description The decision's number, as in methodology.runs */
                run: number;
                /** @enum {string} */
                status: "completed";
                /** Format: uuid */
                verdict_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "verdict.held";
        };
        VerdictReviewDueEvent: {
            data: {
                /** @example 8453 */
                chain_id: number;
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                escrow: string;
                /**
                 * Format: date-time
                 * @description When the job runs out, and its client may be refunded
                 * @example 2026-11-29T10:00:00.000Z
                 */
                expires_at: string;
                /** @enum {string} */
                final_verdict: "HOLD";
                /**
                 * @description Hexadecimal, as the verdict's settlement has it
                 * @example 0x7
                 */
                job_id: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-27T04:00:00.000Z
                 */
                review_by: string;
                /** @enum {string} */
                status: "completed";
                /** Format: uuid */
                verdict_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "verdict.review_due";
        };
        VerdictTexts: {
            /** @example 1. Ten rows. 2. Every row names its source. */
            acceptance_criteria: string | null;
            /**
             * @description What was handed in after a HOLD, oldest first
             * @example []
             */
            evidence: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                submitted_at: string;
                text: string;
            }[];
            /**
             * @example | Pool | Volume | Source |
             *     |---|---|---|
             *     …
             */
            output_text: string;
            /** @example List the ten largest DEX pools on Base by volume, each with its source. */
            spec_text: string;
            /** Format: uuid */
            verdict_id: string;
        };
        VerificationCheck: {
            /** @example answers */
            detail: string;
            /** @enum {string} */
            status: "ok" | "failing" | "not_configured";
        };
        VerificationHealth: {
            checks: {
                chain: components["schemas"]["VerificationCheck"];
                database: components["schemas"]["VerificationCheck"];
                model: components["schemas"]["VerificationCheck"];
                queue: components["schemas"]["VerificationCheck"];
            };
            /** @enum {string} */
            service: "agent-health-verification";
            /** @enum {string} */
            status: "ok" | "unavailable";
            /** @enum {string} */
            version: "0.1.0";
        };
        /** @description How votes were counted. Null for decisions before panel-2026.1, and where the panel made none */
        Voting: {
            /**
             * @description Independent votes that the ballots behind `confidence` are worth: ballots of one model share its errors
             * @example 1.62
             */
            effective_votes: number;
            /**
             * @description Which text a generator reads first
             * @example {
             *       "criteria_auditor": "specification_first",
             *       "domain_expert": "output_first",
             *       "evidence_checker": "specification_first",
             *       "user_advocate": "output_first"
             *     }
             */
            evidence_order: {
                /** @enum {string} */
                criteria_auditor?: "specification_first" | "output_first";
                /** @enum {string} */
                domain_expert?: "specification_first" | "output_first";
                /** @enum {string} */
                evidence_checker?: "specification_first" | "output_first";
                /** @enum {string} */
                user_advocate?: "specification_first" | "output_first";
            };
            /** @description Null if an ALLOW releases no money, as without a bound job */
            money: {
                /**
                 * @description Null if the worth is not known, which counts as above both
                 * @example 40
                 */
                released_usd: number | null;
                /**
                 * @description Above it an ALLOW needs a ballot of a second model
                 * @example 1000
                 */
                second_model_above_usd: number;
                /**
                 * @description Above it an ALLOW needs the votes of all four generators
                 * @example 25
                 */
                unanimous_above_usd: number;
            } | null;
            /**
             * @description Roles that were not asked, since their answers could not change the verdict
             * @example [
             *       {
             *         "role": "synthesiser",
             *         "reason": "not asked: no ballot shows an unmet criterion"
             *       }
             *     ]
             */
            not_asked: {
                reason: string;
                /** @enum {string} */
                role: "critic" | "synthesiser";
            }[];
            /**
             * @description The ballot of a model of another family; null without one
             * @example {
             *       "role": "evidence_checker",
             *       "model": "another-model"
             *     }
             */
            second_model: {
                model: string;
                /** @enum {string} */
                role: "criteria_auditor" | "domain_expert" | "evidence_checker" | "user_advocate";
            } | null;
        } | null;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    check_verification_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It works */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "service": "agent-health-verification",
                     *       "version": "0.1.0",
                     *       "checks": {
                     *         "database": {
                     *           "status": "ok",
                     *           "detail": "answers"
                     *         },
                     *         "queue": {
                     *           "status": "ok",
                     *           "detail": "answers"
                     *         },
                     *         "model": {
                     *           "status": "ok",
                     *           "detail": "answers"
                     *         },
                     *         "chain": {
                     *           "status": "ok",
                     *           "detail": "answers"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["VerificationHealth"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Something that it needs fails, or Deadline exceeded, or Shutting down */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerificationHealth"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_appeals: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Terms and figures */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "enabled": true,
                     *       "window_seconds": 600,
                     *       "least_price_usd": "0.500",
                     *       "price_percent": 25,
                     *       "model": "other-model-1",
                     *       "days": 90,
                     *       "decided": 12,
                     *       "upheld": 9,
                     *       "overturned": 2,
                     *       "held": 1,
                     *       "failed": 0,
                     *       "open": 1,
                     *       "overturn_rate": 0.1667
                     *     }
                     */
                    "application/json": components["schemas"]["Appeals"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    verify_output: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "spec_id": "5b1c6a0e-4a1f-4f0e-9b57-0d7a3a1de2c4",
                 *       "output_text": "1, 2, 3",
                 *       "submitter_addr": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *       "provider_addr": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"
                 *     }
                 */
                "application/json": components["schemas"]["OutputRequest"];
            };
        };
        responses: {
            /** @description The verdict to poll */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "status": "pending"
                     *     }
                     */
                    "application/json": components["schemas"]["SubmittedOutput"];
                };
            };
            /** @description Payment malformed, or Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Nothing submitted to the job yet, or Not what was submitted to the job, or Another submission of this output is being paid, or Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Texts no longer kept */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Name servers unavailable, or Escrow suspended, or Node unavailable, or Index behind the chain, or Panel not configured, or Panel's budget spent, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_receipt_mapping: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `v_gate_mapping` of a receipt */
                mapping_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The mapping */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "mapping_id": "agent-health-v0.3-2026-11-20-t070",
                     *       "v_gate_threshold": 0.7,
                     *       "rules": [
                     *         {
                     *           "when": {
                     *             "v_verdict": "refuted"
                     *           },
                     *           "v_recommendation": "refuted"
                     *         },
                     *         {
                     *           "when": {
                     *             "v_verdict": "unverifiable"
                     *           },
                     *           "v_recommendation": "unverifiable"
                     *         },
                     *         {
                     *           "when": {
                     *             "v_verdict": "supported",
                     *             "v_method": "review"
                     *           },
                     *           "v_recommendation": "confident_supported"
                     *         },
                     *         {
                     *           "when": {
                     *             "v_verdict": "supported",
                     *             "v_adversarial_result": "vulnerable"
                     *           },
                     *           "v_recommendation": "vulnerable_supported"
                     *         },
                     *         {
                     *           "when": {
                     *             "v_verdict": "supported",
                     *             "v_confidence": "below_threshold"
                     *           },
                     *           "v_recommendation": "weak_supported"
                     *         },
                     *         {
                     *           "when": {
                     *             "v_verdict": "supported",
                     *             "v_adversarial_result": "not_checked"
                     *           },
                     *           "v_recommendation": "un_probed_not_cleared"
                     *         },
                     *         {
                     *           "when": {
                     *             "v_verdict": "supported"
                     *           },
                     *           "v_recommendation": "confident_supported"
                     *         }
                     *       ],
                     *       "gates": {
                     *         "confident_supported": "act",
                     *         "un_probed_not_cleared": "halt",
                     *         "vulnerable_supported": "halt",
                     *         "weak_supported": "halt",
                     *         "refuted": "halt",
                     *         "unverifiable": "halt"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReceiptMapping"];
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
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    register_spec: {
        parameters: {
            query?: never;
            header?: {
                /** @description Optional: counts the specification for the key instead of the address */
                "X-API-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "client_addr": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *       "spec_text": "text"
                 *     }
                 */
                "application/json": components["schemas"]["SpecRequest"];
            };
        };
        responses: {
            /** @description The specification's id and hash */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "spec_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "spec_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "job_description_tag": "ahs-spec:0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "binding": null
                     *     }
                     */
                    "application/json": components["schemas"]["Spec"];
                };
            };
            /** @description Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key unknown, or API key expired, or API key revoked */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Storage budget spent, or Node unavailable, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_verdict: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that the caller holds: 304 where one of them is current */
                "If-None-Match"?: string;
            };
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The verdict */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "status": "completed",
                     *       "final_verdict": "ALLOW",
                     *       "final_score": 86,
                     *       "confidence": 0.88,
                     *       "mdi": 0.06,
                     *       "on_chain_action": "complete",
                     *       "domain": "default",
                     *       "met_criteria": [
                     *         "Every row names its source."
                     *       ],
                     *       "unmet_criteria": [],
                     *       "key_objections": [],
                     *       "reasoning": "The table answers what was asked, and each row names where it is from.",
                     *       "strongest_dissent": "Two of the sources are older than a year.",
                     *       "generator_majority": "ALLOW",
                     *       "critic_override_applied": false,
                     *       "zero_history_adjustment_applied": false,
                     *       "rejection_asymmetry_applied": false,
                     *       "latency_ms": 8412,
                     *       "evaluated_at": "2026-11-20T09:58:00.000Z",
                     *       "error_message": null,
                     *       "progress": null,
                     *       "rerun": null,
                     *       "appeal": {
                     *         "status": "overturned",
                     *         "appealed_run": 1,
                     *         "appeal_by": "2026-11-20T09:58:00.000Z",
                     *         "decide_by": "2026-11-20T09:58:00.000Z",
                     *         "price_usd": "8.000",
                     *         "by": "provider"
                     *       },
                     *       "findings": [
                     *         {
                     *           "role": "criteria_auditor",
                     *           "model": "scripted",
                     *           "verdict": "ALLOW",
                     *           "score": 86,
                     *           "confidence": 0.88,
                     *           "criteria": [
                     *             {
                     *               "id": "c1",
                     *               "met": true,
                     *               "evidence": "All 12 rows carry a source."
                     *             }
                     *           ],
                     *           "objections": [],
                     *           "abstained": null
                     *         }
                     *       ],
                     *       "methodology": {
                     *         "panel_version": "panel-2026.1",
                     *         "prompt_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *         "models": {
                     *           "criteria_auditor": "scripted",
                     *           "critic": "scripted"
                     *         },
                     *         "thresholds": {
                     *           "domain": "default",
                     *           "confidence": 0.7
                     *         },
                     *         "rules_fired": [],
                     *         "voting": {
                     *           "effective_votes": 1.62,
                     *           "money": {
                     *             "released_usd": 40,
                     *             "unanimous_above_usd": 25,
                     *             "second_model_above_usd": 1000
                     *           },
                     *           "second_model": {
                     *             "role": "evidence_checker",
                     *             "model": "another-model"
                     *           },
                     *           "evidence_order": {
                     *             "criteria_auditor": "specification_first",
                     *             "domain_expert": "output_first",
                     *             "evidence_checker": "specification_first",
                     *             "user_advocate": "output_first"
                     *           },
                     *           "not_asked": [
                     *             {
                     *               "role": "synthesiser",
                     *               "reason": "not asked: no ballot shows an unmet criterion"
                     *             }
                     *           ]
                     *         },
                     *         "runs": [
                     *           {
                     *             "run": 1,
                     *             "cause": "submitted",
                     *             "final_verdict": "ALLOW",
                     *             "evidence_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "evaluated_at": "2026-11-20T09:58:00.000Z"
                     *           }
                     *         ],
                     *         "reviewed_by": null,
                     *         "review_reason": null
                     *       },
                     *       "spec_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "output_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "evidence_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "settlement": {
                     *         "chain_id": 8453,
                     *         "escrow": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
                     *         "job_id": "0x7",
                     *         "status": "settled",
                     *         "tx_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *         "review_by": null,
                     *         "reason": null,
                     *         "signed": {
                     *           "verdict": {
                     *             "escrow": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
                     *             "job_id": "0x7",
                     *             "deliverable": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "spec_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "decision": 1,
                     *             "score": 86,
                     *             "confidence_bps": 8800,
                     *             "evidence_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "issued_at": 1795168820,
                     *             "deadline": 1795255220
                     *           },
                     *           "signature": "0x9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999",
                     *           "evaluator": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "signer": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Verdict"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    appeal_verdict: {
        parameters: {
            query?: {
                /** @description `appeal.price_usd` of the verdict */
                price_usd?: string;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The appeal */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "status": "open",
                     *       "decide_by": "2026-11-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AppealedVerdict"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not the submitter's key or wallet, or Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Verdict cannot be appealed now, or Another appeal of this verdict is being paid, or Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Appeals not configured, or Panel's budget spent, or Panel not configured, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_verdict_deliveries: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description Maximum number of entries on the page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "deliveries": [
                     *         {
                     *           "id": "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10",
                     *           "type": "subscription.test",
                     *           "state": "pending",
                     *           "created_at": "2026-11-20T09:58:00.000Z",
                     *           "delivered_at": "2026-11-20T09:58:00.000Z",
                     *           "next_attempt_at": "2026-11-20T09:58:00.000Z",
                     *           "payload": {
                     *             "type": "subscription.test",
                     *             "timestamp": "2026-11-20T09:58:00.000Z",
                     *             "data": {}
                     *           },
                     *           "attempts": [
                     *             {
                     *               "at": "2026-11-20T09:58:00.000Z",
                     *               "status": 503,
                     *               "latency_ms": 41,
                     *               "failure": "The endpoint answered 503."
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["VerdictDeliveries"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not the submitter's key or wallet */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_evidence: {
        parameters: {
            query?: {
                /** @description Number of an earlier decision, as in methodology.runs; without it the newest */
                run?: number;
            };
            header?: {
                /** @description ETags that the caller holds: 304 where one of them is current */
                "If-None-Match"?: string;
            };
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The evidence */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
            /** @description Texts no longer kept */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    offer_evidence: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "The sources of rows 4 to 9, with the pages that were cited."
                 *     }
                 */
                "application/json": components["schemas"]["EvidenceInput"];
            };
        };
        responses: {
            /** @description The text is kept */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "text_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "count": 1,
                     *       "rerun_at": "2026-11-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["KeptEvidence"];
                };
            };
            /** @description Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not the submitter's key or wallet */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Verdict not on HOLD, or Evidence used up, or Request with this Idempotency-Key or payment identifier under way */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Texts no longer kept */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_receipt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receipt, good for 30 days; a new one at every request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "payload": "eyJleHAiOjE3NjYyMjQ4MDksImlhdCI6MTc2MzYzMjgwOSwi…",
                     *       "protected": "eyJhbGciOiJFZERTQSIsImtpZCI6IuKApiJ9",
                     *       "signature": "3Yt0mVb…"
                     *     }
                     */
                    "application/json": components["schemas"]["Receipt"];
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
            /** @description Verdict not completed */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Receipts not configured, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retry_verdict: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The verdict, queued again */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "status": "pending"
                     *     }
                     */
                    "application/json": components["schemas"]["RetriedVerdict"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
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
            /** @description Not the submitter's key or wallet */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Verdict not failed, or Retries used up, or Request with this Idempotency-Key or payment identifier under way */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Texts no longer kept */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Panel not configured, or Panel's budget spent, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    review_verdict: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "decision": "ALLOW",
                 *       "reason": "The sources handed in cover every row."
                 *     }
                 */
                "application/json": components["schemas"]["ReviewInput"];
            };
        };
        responses: {
            /** @description The decision is recorded */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "final_verdict": "ALLOW",
                     *       "run": 2,
                     *       "evidence_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "reviewed_by": "Trust desk"
                     *     }
                     */
                    "application/json": components["schemas"]["ReviewedVerdict"];
                };
            };
            /** @description Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key lacks the scope */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Verdict not on HOLD, or Request with this Idempotency-Key or payment identifier under way */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_verdict_texts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The texts */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "spec_text": "List the ten largest DEX pools on Base by volume, each with its source.",
                     *       "acceptance_criteria": "1. Ten rows. 2. Every row names its source.",
                     *       "output_text": "| Pool | Volume | Source |\n|---|---|---|\n…",
                     *       "evidence": []
                     *     }
                     */
                    "application/json": components["schemas"]["VerdictTexts"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not the submitter's key or wallet */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Texts no longer kept */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    erase_verdict_texts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As POST /v1/outputs answered it */
                verdict_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The texts are erased, or will be within seconds */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "requested_at": "2026-11-20T09:58:00.000Z",
                     *       "erased_at": "2026-11-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["TextErasure"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not the submitter's key or wallet */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Verdict or its job not over */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
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
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    webhook_verdict_appeal_failed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "verdict.appeal_failed",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "status": "completed",
                 *         "appealed_run": 1,
                 *         "error_message": "The second panel made no decision until 2026-11-20T11:00:00.000Z."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VerdictAppealFailedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_verdict_appeal_held: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "verdict.appeal_held",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "status": "completed",
                 *         "run": 2,
                 *         "appealed_run": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VerdictAppealHeldEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_verdict_appealed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "verdict.appealed",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "status": "completed",
                 *         "final_verdict": "REJECT",
                 *         "appealed_run": 1,
                 *         "appellant": "provider",
                 *         "decide_by": "2026-11-20T09:58:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VerdictAppealedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_verdict_completed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "verdict.completed",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "status": "completed",
                 *         "final_verdict": "ALLOW",
                 *         "run": 1,
                 *         "cause": "submitted",
                 *         "evidence_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                 *         "evaluated_at": "2026-11-20T09:58:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VerdictCompletedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_verdict_failed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "verdict.failed",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "status": "failed",
                 *         "error_message": "The panel gave too few answers: domain_expert, evidence_checker and critic abstained."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VerdictFailedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_verdict_held: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "verdict.held",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "status": "completed",
                 *         "final_verdict": "HOLD",
                 *         "run": 1,
                 *         "cause": "submitted",
                 *         "evidence_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                 *         "evaluated_at": "2026-11-20T09:58:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VerdictHeldEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_verdict_review_due: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "verdict.review_due",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "verdict_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "status": "completed",
                 *         "final_verdict": "HOLD",
                 *         "chain_id": 8453,
                 *         "escrow": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *         "job_id": "0x7",
                 *         "review_by": "2026-11-27T04:00:00.000Z",
                 *         "expires_at": "2026-11-29T10:00:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VerdictReviewDueEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
