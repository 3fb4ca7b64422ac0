CREATE SCHEMA IF NOT EXISTS "ahs";
--> statement-breakpoint
CREATE TABLE "ahs"."alert_subscription" (
	"id" uuid PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"owner" text NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"events" text[] NOT NULL,
	"thresholds" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"manage_token_hash" text NOT NULL,
	"purchases" text[] NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."webhook_attempt" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."webhook_attempt_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"event_id" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"status" integer,
	"latency_ms" integer NOT NULL,
	"failure" text
);
--> statement-breakpoint
CREATE TABLE "ahs"."webhook_endpoint" (
	"id" uuid PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_until" timestamp with time zone,
	"verified_at" timestamp with time zone,
	"held_until" timestamp with time zone,
	"disabled_at" timestamp with time zone,
	"disabled_reason" text,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."webhook_event" (
	"id" text PRIMARY KEY NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"subscription_id" uuid,
	"type" text NOT NULL,
	"dedupe_key" text NOT NULL,
	"body" text NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"not_before" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"delivered_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ahs"."api_key" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"partner" boolean NOT NULL,
	"key_hash" text NOT NULL,
	"key_prefix" text NOT NULL,
	"balance_units" bigint,
	"scopes" text[] NOT NULL,
	"rate_per_minute" integer NOT NULL,
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"bought_by" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_key_keyHash_unique" UNIQUE("key_hash"),
	CONSTRAINT "api_key_balance" CHECK ("ahs"."api_key"."balance_units" >= 0)
);
--> statement-breakpoint
CREATE TABLE "ahs"."key_credit" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"units" bigint NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."key_debit" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"endpoint" text NOT NULL,
	"units" bigint NOT NULL,
	"state" text NOT NULL,
	"repeat" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deadline" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."chain_mark" (
	"chain_id" integer PRIMARY KEY NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"generation" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."account_fact" (
	"chain_id" integer NOT NULL,
	"address" text NOT NULL,
	"has_code" boolean,
	"creator" text,
	"first_funder" text,
	"existed_block" bigint,
	"existed_at" bigint,
	"source" text NOT NULL,
	"read_block" bigint NOT NULL,
	CONSTRAINT "account_fact_chain_id_address_pk" PRIMARY KEY("chain_id","address")
);
--> statement-breakpoint
CREATE TABLE "ahs"."contact" (
	"chain_id" integer NOT NULL,
	"counterparty" text NOT NULL,
	"account" text NOT NULL,
	"calls" integer NOT NULL,
	"sent_micro_usd" numeric NOT NULL,
	"first_block" bigint NOT NULL,
	"first_time" bigint NOT NULL,
	"last_block" bigint NOT NULL,
	"last_time" bigint NOT NULL,
	CONSTRAINT "contact_chain_id_counterparty_account_pk" PRIMARY KEY("chain_id","counterparty","account")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_approval" (
	"chain_id" integer NOT NULL,
	"owner" text NOT NULL,
	"token" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"own" boolean NOT NULL,
	"block" bigint NOT NULL,
	"log_index" integer NOT NULL,
	"transaction_hash" text NOT NULL,
	"timestamp" bigint NOT NULL,
	"spender" text NOT NULL,
	"amount" numeric,
	"token_id" numeric,
	"approved" boolean NOT NULL,
	CONSTRAINT "enrich_approval_chain_id_owner_token_kind_subject_own_pk" PRIMARY KEY("chain_id","owner","token","kind","subject","own")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_block" (
	"chain_id" integer NOT NULL,
	"block" bigint NOT NULL,
	"hash" text NOT NULL,
	"timestamp" bigint NOT NULL,
	"base_fee_wei" numeric,
	"median_tip_wei" numeric,
	"transactions" integer NOT NULL,
	"source" text NOT NULL,
	CONSTRAINT "enrich_block_chain_id_block_pk" PRIMARY KEY("chain_id","block")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_cursor" (
	"chain_id" integer PRIMARY KEY NOT NULL,
	"block" bigint NOT NULL,
	"block_hash" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_death" (
	"chain_id" integer NOT NULL,
	"transaction_hash" text NOT NULL,
	"deaths" integer NOT NULL,
	CONSTRAINT "enrich_death_chain_id_transaction_hash_pk" PRIMARY KEY("chain_id","transaction_hash")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_reading" (
	"chain_id" integer NOT NULL,
	"task" text NOT NULL,
	"from_block" bigint NOT NULL,
	"to_block" bigint NOT NULL,
	"deaths" integer NOT NULL,
	"transaction_hash" text,
	CONSTRAINT "enrich_reading_chain_id_task_pk" PRIMARY KEY("chain_id","task")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_transfer" (
	"chain_id" integer NOT NULL,
	"block" bigint NOT NULL,
	"log_index" integer NOT NULL,
	"item" integer NOT NULL,
	"transaction_hash" text NOT NULL,
	"timestamp" bigint NOT NULL,
	"token" text NOT NULL,
	"standard" text NOT NULL,
	"from" text NOT NULL,
	"to" text NOT NULL,
	"amount" numeric,
	"token_id" numeric,
	"sender" text,
	"kept_until" bigint,
	CONSTRAINT "enrich_transfer_chain_id_block_log_index_item_pk" PRIMARY KEY("chain_id","block","log_index","item")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_user_operation" (
	"chain_id" integer NOT NULL,
	"block" bigint NOT NULL,
	"log_index" integer NOT NULL,
	"transaction_hash" text NOT NULL,
	"timestamp" bigint NOT NULL,
	"entry_point" text NOT NULL,
	"wallet" text NOT NULL,
	"user_op_hash" text NOT NULL,
	"paymaster" text,
	"nonce" numeric NOT NULL,
	"success" boolean NOT NULL,
	"actual_gas_cost_wei" numeric NOT NULL,
	"actual_gas_used" numeric NOT NULL,
	CONSTRAINT "enrich_user_operation_chain_id_block_log_index_pk" PRIMARY KEY("chain_id","block","log_index")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_wallet" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"from_block" bigint NOT NULL,
	"past_next" bigint,
	"past_until" bigint,
	CONSTRAINT "enrich_wallet_chain_id_wallet_pk" PRIMARY KEY("chain_id","wallet")
);
--> statement-breakpoint
CREATE TABLE "ahs"."feed_price" (
	"chain_id" integer NOT NULL,
	"feed" text NOT NULL,
	"day" integer NOT NULL,
	"block" bigint NOT NULL,
	"answer" numeric NOT NULL,
	"decimals" integer NOT NULL,
	CONSTRAINT "feed_price_chain_id_feed_day_pk" PRIMARY KEY("chain_id","feed","day")
);
--> statement-breakpoint
CREATE TABLE "ahs"."own_call" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"block" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"position" integer NOT NULL,
	"hash" text NOT NULL,
	"origin" text NOT NULL,
	"source" text NOT NULL,
	"timestamp" bigint NOT NULL,
	"to" text,
	"selector" text,
	"value" numeric NOT NULL,
	"ok" boolean NOT NULL,
	"gas_limit" numeric NOT NULL,
	"gas_used" numeric NOT NULL,
	"gas_price_wei" numeric NOT NULL,
	"fee_wei" numeric NOT NULL,
	"l1_fee_wei" numeric,
	"recipient" text,
	"amount" numeric,
	"market_price_wei" numeric,
	"effect" text,
	"logs" integer,
	"emitters" text[],
	"moves" text[],
	"line" text,
	CONSTRAINT "own_call_chain_id_wallet_block_transaction_index_position_pk" PRIMARY KEY("chain_id","wallet","block","transaction_index","position")
);
--> statement-breakpoint
CREATE TABLE "ahs"."pending_fact" (
	"chain_id" integer NOT NULL,
	"address" text NOT NULL,
	"wallet" text NOT NULL,
	"ancestor" boolean NOT NULL,
	"due_at" bigint NOT NULL,
	"asked" integer NOT NULL,
	"own" boolean DEFAULT false NOT NULL,
	CONSTRAINT "pending_fact_chain_id_address_wallet_pk" PRIMARY KEY("chain_id","address","wallet")
);
--> statement-breakpoint
CREATE TABLE "ahs"."stranger" (
	"chain_id" integer NOT NULL,
	"account" text NOT NULL,
	"calls" bigint NOT NULL,
	CONSTRAINT "stranger_chain_id_account_pk" PRIMARY KEY("chain_id","account")
);
--> statement-breakpoint
CREATE TABLE "ahs"."wallet_delegation" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"block" bigint NOT NULL,
	"delegate" text,
	CONSTRAINT "wallet_delegation_chain_id_wallet_block_pk" PRIMARY KEY("chain_id","wallet","block")
);
--> statement-breakpoint
CREATE TABLE "ahs"."epoch" (
	"chain_id" integer NOT NULL,
	"epoch" bigint NOT NULL,
	"root" text NOT NULL,
	"uri" text NOT NULL,
	"leaves" jsonb NOT NULL,
	"state" text NOT NULL,
	"sender_transaction_id" bigint NOT NULL,
	"attempts" integer NOT NULL,
	"not_before" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "epoch_chain_id_epoch_pk" PRIMARY KEY("chain_id","epoch")
);
--> statement-breakpoint
CREATE TABLE "ahs"."input_file" (
	"hash" text PRIMARY KEY NOT NULL,
	"content" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrolment" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"state" text NOT NULL,
	"sender_transaction_id" bigint,
	"attempts" integer DEFAULT 0 NOT NULL,
	"detail" text,
	"requested_at" timestamp with time zone NOT NULL,
	"not_before" timestamp with time zone,
	"cause" text DEFAULT 'paid' NOT NULL,
	CONSTRAINT "enrolment_chain_id_wallet_pk" PRIMARY KEY("chain_id","wallet")
);
--> statement-breakpoint
CREATE TABLE "ahs"."kept_history" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"source" text NOT NULL,
	"from_block" bigint NOT NULL,
	"from_timestamp" bigint NOT NULL,
	"to_block" bigint NOT NULL,
	"to_hash" text NOT NULL,
	"complete" boolean NOT NULL,
	"read_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "kept_history_chain_id_wallet_pk" PRIMARY KEY("chain_id","wallet")
);
--> statement-breakpoint
CREATE TABLE "ahs"."agent_document" (
	"chain_id" integer NOT NULL,
	"agent_id" numeric NOT NULL,
	"uri" text NOT NULL,
	"state" text NOT NULL,
	"detail" text,
	"content_hash" text,
	"name" text,
	"services" jsonb NOT NULL,
	"attempts" integer NOT NULL,
	"fetched_at" timestamp with time zone,
	"not_before" timestamp with time zone,
	"scanned_hash" text,
	CONSTRAINT "agent_document_chain_id_agent_id_pk" PRIMARY KEY("chain_id","agent_id")
);
--> statement-breakpoint
CREATE TABLE "ahs"."document_day" (
	"chain_id" integer NOT NULL,
	"day" date NOT NULL,
	"account" text NOT NULL,
	"documents" integer NOT NULL,
	CONSTRAINT "document_day_chain_id_day_account_pk" PRIMARY KEY("chain_id","day","account")
);
--> statement-breakpoint
CREATE TABLE "ahs"."probe" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."probe_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"endpoint" text NOT NULL,
	"kind" text,
	"at" timestamp with time zone NOT NULL,
	"outcome" text NOT NULL,
	"status" integer,
	"latency_ms" integer,
	"valid" boolean,
	"detail" text,
	"quarters" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."probe_schedule" (
	"chain_id" integer NOT NULL,
	"endpoint" text NOT NULL,
	"kind" text NOT NULL,
	"account" text NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"failing_since" timestamp with time zone,
	"answered" boolean DEFAULT false NOT NULL,
	"quarters" integer DEFAULT 1 NOT NULL,
	"domain" text,
	"declared_at" timestamp with time zone DEFAULT now() NOT NULL,
	"place" text DEFAULT 'kept' NOT NULL,
	CONSTRAINT "probe_schedule_chain_id_endpoint_kind_pk" PRIMARY KEY("chain_id","endpoint","kind")
);
--> statement-breakpoint
CREATE TABLE "ahs"."idempotent_answer" (
	"scope" text NOT NULL,
	"key_hash" text NOT NULL,
	"fingerprint" text NOT NULL,
	"state" text NOT NULL,
	"answer_type" text,
	"answer_body" "bytea",
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "idempotent_answer_scope_key_hash_pk" PRIMARY KEY("scope","key_hash")
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "ahs"."rate_bucket" (
	"identity" text PRIMARY KEY NOT NULL,
	"tokens" double precision NOT NULL,
	"granted" integer NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."sign_in_nonce" (
	"nonce" text NOT NULL,
	"address" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "sign_in_nonce_address_nonce_pk" PRIMARY KEY("address","nonce")
);
--> statement-breakpoint
CREATE TABLE "ahs"."payment" (
	"id" uuid PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"asset" text NOT NULL,
	"payer" text NOT NULL,
	"pay_to" text NOT NULL,
	"nonce" text NOT NULL,
	"amount" numeric NOT NULL,
	"valid_after" bigint NOT NULL,
	"valid_before" bigint NOT NULL,
	"payload" jsonb NOT NULL,
	"state" text NOT NULL,
	"endpoint" text NOT NULL,
	"resource" text NOT NULL,
	"fingerprint" text NOT NULL,
	"settlement" text NOT NULL,
	"claim_hash" text NOT NULL,
	"idempotency_key_hash" text,
	"payment_identifier_hash" text,
	"deadline" timestamp with time zone NOT NULL,
	"settle_asked_at" timestamp with time zone,
	"transaction_hash" text,
	"settled_at" timestamp with time zone,
	"confirm_at" timestamp with time zone,
	"error" text,
	"answer_type" text,
	"answer_body" "bytea",
	"answered_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."publish_intent" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."publish_intent_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"score_id" bigint NOT NULL,
	"reason" text NOT NULL,
	"state" text NOT NULL,
	"sender_transaction_id" bigint,
	"not_before" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."sender_transaction" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."sender_transaction_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"sender" text NOT NULL,
	"reference" text NOT NULL,
	"purpose" text NOT NULL,
	"to" text NOT NULL,
	"data" text NOT NULL,
	"value" numeric NOT NULL,
	"state" text NOT NULL,
	"final" boolean DEFAULT false NOT NULL,
	"nonce" bigint,
	"gas_limit" bigint,
	"max_fee_per_gas" numeric,
	"max_priority_fee_per_gas" numeric,
	"hashes" text[] NOT NULL,
	"raw" text,
	"broadcast_at" timestamp with time zone,
	"broadcast_block" bigint,
	"not_before" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text,
	"error" text,
	"revert_data" text,
	"mined_hash" text,
	"mined_block" bigint,
	"gas_used" bigint,
	"cost_wei" numeric,
	"mined_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."quarantine" (
	"chain_id" integer NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"error" text NOT NULL,
	"failures" integer NOT NULL,
	"first_failed_at" timestamp with time zone NOT NULL,
	"next_try_at" timestamp with time zone NOT NULL,
	CONSTRAINT "quarantine_chain_id_kind_subject_pk" PRIMARY KEY("chain_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "ahs"."routing_policy" (
	"owner" text PRIMARY KEY NOT NULL,
	"policy" jsonb NOT NULL,
	"version" text NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."sanctions_entry" (
	"source" text NOT NULL,
	"address" text NOT NULL,
	"reference" text NOT NULL,
	"detected_at" timestamp with time zone NOT NULL,
	CONSTRAINT "sanctions_entry_source_address_pk" PRIMARY KEY("source","address")
);
--> statement-breakpoint
CREATE TABLE "ahs"."sanctions_reading" (
	"chain_id" integer NOT NULL,
	"address" text NOT NULL,
	"listed" boolean NOT NULL,
	"block" bigint NOT NULL,
	"read_at" timestamp with time zone NOT NULL,
	CONSTRAINT "sanctions_reading_chain_id_address_pk" PRIMARY KEY("chain_id","address")
);
--> statement-breakpoint
CREATE TABLE "ahs"."sanctions_source" (
	"source" text PRIMARY KEY NOT NULL,
	"list_hash" text NOT NULL,
	"entries" integer NOT NULL,
	"edition" text,
	"checked_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."registry_agent" (
	"chain_id" integer NOT NULL,
	"registry" text NOT NULL,
	"agent_id" numeric NOT NULL,
	"wallet" text,
	"uri" text,
	"registered_block" bigint NOT NULL,
	"updated_block" bigint NOT NULL,
	CONSTRAINT "registry_agent_chain_id_registry_agent_id_pk" PRIMARY KEY("chain_id","registry","agent_id")
);
--> statement-breakpoint
CREATE TABLE "ahs"."registry_cursor" (
	"chain_id" integer NOT NULL,
	"registry" text NOT NULL,
	"block" bigint NOT NULL,
	CONSTRAINT "registry_cursor_chain_id_registry_pk" PRIMARY KEY("chain_id","registry")
);
--> statement-breakpoint
CREATE TABLE "ahs"."scan_grade" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"grade" text,
	CONSTRAINT "scan_grade_chain_id_wallet_pk" PRIMARY KEY("chain_id","wallet")
);
--> statement-breakpoint
CREATE TABLE "ahs"."scan_run" (
	"id" uuid PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"night" text NOT NULL,
	"cause" text NOT NULL,
	"state" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"report" jsonb,
	"error" text,
	"attempts" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."current_score" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"score_id" bigint NOT NULL,
	"as_of_block" bigint NOT NULL,
	"as_of_time" timestamp with time zone NOT NULL,
	"ahs_score" integer,
	"grade" text,
	"confidence_micros" integer NOT NULL,
	"confidence_level" text NOT NULL,
	"sanctioned" boolean NOT NULL,
	"level_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ahs"."score" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."score_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"as_of_block" bigint NOT NULL,
	"as_of_hash" text NOT NULL,
	"as_of_time" timestamp with time zone NOT NULL,
	"model_version" text NOT NULL,
	"ahs_score" integer,
	"d1_score" integer,
	"d2_score" integer,
	"grade" text,
	"confidence_micros" integer NOT NULL,
	"confidence_level" text NOT NULL,
	"sanctioned" boolean NOT NULL,
	"sanctions_flags" jsonb NOT NULL,
	"patterns" jsonb NOT NULL,
	"features" jsonb NOT NULL,
	"coverage" jsonb NOT NULL,
	"level_until" timestamp with time zone,
	"inputs_hash" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."wallet_interest" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"last_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."hold_clock" (
	"verdict_id" uuid PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone,
	"rerun_at" timestamp with time zone,
	"review_by" timestamp with time zone NOT NULL,
	"rerun_asked_at" timestamp with time zone,
	"review_told_at" timestamp with time zone,
	"expired_on_hold_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."settlement" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."settlement_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"escrow" text NOT NULL,
	"job_id" numeric NOT NULL,
	"verdict_id" uuid NOT NULL,
	"run" integer NOT NULL,
	"decision" text NOT NULL,
	"deliverable" text NOT NULL,
	"spec_hash" text NOT NULL,
	"score" integer NOT NULL,
	"confidence_bps" integer NOT NULL,
	"evidence_hash" text NOT NULL,
	"issued_at" bigint NOT NULL,
	"deadline" bigint NOT NULL,
	"evaluator" text NOT NULL,
	"signer" text NOT NULL,
	"signature" text NOT NULL,
	"state" text NOT NULL,
	"sender_transaction_id" bigint,
	"attempts" integer DEFAULT 0 NOT NULL,
	"transaction_hash" text,
	"error" text,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."settlement_check" (
	"verdict_id" uuid PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"run" integer NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"not_before" timestamp with time zone,
	"checked_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."unfollowed" (
	"chain_id" integer NOT NULL,
	"address" text NOT NULL,
	"added_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "unfollowed_chain_id_address_pk" PRIMARY KEY("chain_id","address")
);
--> statement-breakpoint
CREATE TABLE "ahs"."held_evidence" (
	"id" uuid PRIMARY KEY NOT NULL,
	"verdict_id" uuid NOT NULL,
	"submitted_by" text NOT NULL,
	"text" text,
	"text_hash" text NOT NULL,
	"final_by" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."job_spec" (
	"id" uuid PRIMARY KEY NOT NULL,
	"client_addr" text NOT NULL,
	"provider_addr" text,
	"spec_text" text,
	"acceptance_criteria" text,
	"domain" text NOT NULL,
	"spec_hash" text NOT NULL,
	"job_chain_id" integer,
	"job_escrow" text,
	"job_id" numeric,
	"client_signature" text,
	"registered_block" bigint,
	"created_at" timestamp with time zone NOT NULL,
	"texts_dropped_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ahs"."output_text" (
	"verdict_id" uuid PRIMARY KEY NOT NULL,
	"text" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."role_call" (
	"verdict_id" uuid NOT NULL,
	"run" integer NOT NULL,
	"role" text NOT NULL,
	"model" text NOT NULL,
	"answer" jsonb,
	"failure" text,
	"mode" text NOT NULL,
	"requests" integer NOT NULL,
	"prompt_tokens" integer NOT NULL,
	"completion_tokens" integer NOT NULL,
	"cost_usd" double precision,
	"latency_ms" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "role_call_verdict_id_run_role_pk" PRIMARY KEY("verdict_id","run","role")
);
--> statement-breakpoint
CREATE TABLE "ahs"."verdict" (
	"id" uuid PRIMARY KEY NOT NULL,
	"spec_id" uuid NOT NULL,
	"slot" text NOT NULL,
	"output_hash" text NOT NULL,
	"submitted_by" text NOT NULL,
	"submitter_addr" text NOT NULL,
	"provider_addr" text NOT NULL,
	"owner" text NOT NULL,
	"units" integer NOT NULL,
	"debit_id" uuid,
	"payment_id" uuid,
	"status" text NOT NULL,
	"lease_until" timestamp with time zone,
	"not_before" timestamp with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"tried_at" timestamp with time zone,
	"cause" text NOT NULL,
	"runs" integer DEFAULT 0 NOT NULL,
	"retries" integer DEFAULT 0 NOT NULL,
	"final_verdict" text,
	"error_message" text,
	"job_chain_id" integer,
	"job_escrow" text,
	"job_id" numeric,
	"endpoint_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"accepted_at" timestamp with time zone,
	"evaluated_at" timestamp with time zone,
	"replaced_at" timestamp with time zone,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."verdict_run" (
	"verdict_id" uuid NOT NULL,
	"run" integer NOT NULL,
	"cause" text NOT NULL,
	"final_verdict" text NOT NULL,
	"result" jsonb NOT NULL,
	"evidence" text NOT NULL,
	"evidence_hash" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "verdict_run_verdict_id_run_pk" PRIMARY KEY("verdict_id","run")
);
--> statement-breakpoint
CREATE TABLE "ahs"."wallet_label" (
	"provider" text NOT NULL,
	"address" text NOT NULL,
	"labels" jsonb NOT NULL,
	"read_at" timestamp with time zone NOT NULL,
	CONSTRAINT "wallet_label_provider_address_pk" PRIMARY KEY("provider","address")
);
--> statement-breakpoint
ALTER TABLE "ahs"."alert_subscription" ADD CONSTRAINT "alert_subscription_endpoint_id_webhook_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "ahs"."webhook_endpoint"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."webhook_attempt" ADD CONSTRAINT "webhook_attempt_event_id_webhook_event_id_fk" FOREIGN KEY ("event_id") REFERENCES "ahs"."webhook_event"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."webhook_event" ADD CONSTRAINT "webhook_event_endpoint_id_webhook_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "ahs"."webhook_endpoint"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."webhook_event" ADD CONSTRAINT "webhook_event_subscription_id_alert_subscription_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "ahs"."alert_subscription"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."key_credit" ADD CONSTRAINT "key_credit_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "ahs"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."key_debit" ADD CONSTRAINT "key_debit_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "ahs"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."publish_intent" ADD CONSTRAINT "publish_intent_score_id_score_id_fk" FOREIGN KEY ("score_id") REFERENCES "ahs"."score"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."current_score" ADD CONSTRAINT "current_score_score_id_score_id_fk" FOREIGN KEY ("score_id") REFERENCES "ahs"."score"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."hold_clock" ADD CONSTRAINT "hold_clock_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."settlement" ADD CONSTRAINT "settlement_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."settlement_check" ADD CONSTRAINT "settlement_check_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."held_evidence" ADD CONSTRAINT "held_evidence_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."output_text" ADD CONSTRAINT "output_text_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."role_call" ADD CONSTRAINT "role_call_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."verdict" ADD CONSTRAINT "verdict_spec_id_job_spec_id_fk" FOREIGN KEY ("spec_id") REFERENCES "ahs"."job_spec"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."verdict" ADD CONSTRAINT "verdict_endpoint_id_webhook_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "ahs"."webhook_endpoint"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."verdict_run" ADD CONSTRAINT "verdict_run_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_subscription_wallet" ON "ahs"."alert_subscription" USING btree ("chain_id","wallet","expires_at");--> statement-breakpoint
CREATE INDEX "alert_subscription_owner" ON "ahs"."alert_subscription" USING btree ("owner","wallet");--> statement-breakpoint
CREATE INDEX "alert_subscription_expiry" ON "ahs"."alert_subscription" USING btree ("expires_at") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "webhook_attempt_event" ON "ahs"."webhook_attempt" USING btree ("event_id","at");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_event_once" ON "ahs"."webhook_event" USING btree ("endpoint_id","dedupe_key");--> statement-breakpoint
CREATE INDEX "webhook_event_due" ON "ahs"."webhook_event" USING btree ("state","not_before");--> statement-breakpoint
CREATE INDEX "webhook_event_subscription" ON "ahs"."webhook_event" USING btree ("subscription_id","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "webhook_event_failing" ON "ahs"."webhook_event" USING btree ("endpoint_id") WHERE state = 'pending' and attempts > 0;--> statement-breakpoint
CREATE INDEX "api_key_bought_by" ON "ahs"."api_key" USING btree ("bought_by");--> statement-breakpoint
CREATE INDEX "key_debit_state" ON "ahs"."key_debit" USING btree ("state","deadline");--> statement-breakpoint
CREATE INDEX "key_debit_kept" ON "ahs"."key_debit" USING btree ("key_id","created_at") WHERE "ahs"."key_debit"."state" = 'kept';--> statement-breakpoint
CREATE INDEX "key_debit_repeat" ON "ahs"."key_debit" USING btree ("key_id","repeat") WHERE "ahs"."key_debit"."repeat" is not null;--> statement-breakpoint
CREATE INDEX "account_fact_funder" ON "ahs"."account_fact" USING btree ("chain_id","first_funder","address");--> statement-breakpoint
CREATE INDEX "account_fact_creator" ON "ahs"."account_fact" USING btree ("chain_id","creator","address");--> statement-breakpoint
CREATE INDEX "contact_account" ON "ahs"."contact" USING btree ("chain_id","account","counterparty","calls");--> statement-breakpoint
CREATE INDEX "enrich_transfer_from" ON "ahs"."enrich_transfer" USING btree ("chain_id","from","block");--> statement-breakpoint
CREATE INDEX "enrich_transfer_to" ON "ahs"."enrich_transfer" USING btree ("chain_id","to","block");--> statement-breakpoint
CREATE INDEX "enrich_transfer_kept" ON "ahs"."enrich_transfer" USING btree ("chain_id","kept_until") WHERE kept_until is not null;--> statement-breakpoint
CREATE INDEX "enrich_user_operation_wallet" ON "ahs"."enrich_user_operation" USING btree ("chain_id","wallet","block");--> statement-breakpoint
CREATE INDEX "enrich_wallet_past" ON "ahs"."enrich_wallet" USING btree ("chain_id","past_next") WHERE past_next is not null;--> statement-breakpoint
CREATE INDEX "own_call_hash" ON "ahs"."own_call" USING btree ("chain_id","hash");--> statement-breakpoint
CREATE INDEX "pending_fact_turn" ON "ahs"."pending_fact" USING btree ("chain_id","wallet","own" DESC NULLS LAST,"due_at");--> statement-breakpoint
CREATE INDEX "enrolment_state" ON "ahs"."enrolment" USING btree ("chain_id","state");--> statement-breakpoint
CREATE INDEX "agent_document_due" ON "ahs"."agent_document" USING btree ("chain_id","not_before");--> statement-breakpoint
CREATE INDEX "agent_document_name" ON "ahs"."agent_document" USING btree ("chain_id",lower(left(name, 64)) text_pattern_ops,"agent_id");--> statement-breakpoint
CREATE INDEX "probe_endpoint" ON "ahs"."probe" USING btree ("chain_id","endpoint","at");--> statement-breakpoint
CREATE INDEX "probe_schedule_next" ON "ahs"."probe_schedule" USING btree ("chain_id","next_at");--> statement-breakpoint
CREATE INDEX "idempotent_answer_expires" ON "ahs"."idempotent_answer" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_in_nonce_expires" ON "ahs"."sign_in_nonce" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_authorization" ON "ahs"."payment" USING btree ("chain_id","asset","payer","nonce");--> statement-breakpoint
CREATE INDEX "payment_state" ON "ahs"."payment" USING btree ("state","deadline");--> statement-breakpoint
CREATE INDEX "payment_payer" ON "ahs"."payment" USING btree ("payer","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "payment_claim" ON "ahs"."payment" USING btree ("claim_hash");--> statement-breakpoint
CREATE INDEX "payment_confirm" ON "ahs"."payment" USING btree ("confirm_at") WHERE "ahs"."payment"."confirm_at" is not null;--> statement-breakpoint
CREATE INDEX "payment_answer" ON "ahs"."payment" USING btree ("answered_at") WHERE "ahs"."payment"."answer_body" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "publish_intent_one_pending" ON "ahs"."publish_intent" USING btree ("chain_id","wallet") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "publish_intent_state" ON "ahs"."publish_intent" USING btree ("chain_id","state","id");--> statement-breakpoint
CREATE INDEX "publish_intent_wallet" ON "ahs"."publish_intent" USING btree ("chain_id","wallet","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "publish_intent_transaction" ON "ahs"."publish_intent" USING btree ("sender_transaction_id");--> statement-breakpoint
CREATE INDEX "publish_intent_score" ON "ahs"."publish_intent" USING btree ("score_id");--> statement-breakpoint
CREATE UNIQUE INDEX "sender_transaction_nonce" ON "ahs"."sender_transaction" USING btree ("chain_id","sender","nonce");--> statement-breakpoint
CREATE UNIQUE INDEX "sender_transaction_reference" ON "ahs"."sender_transaction" USING btree ("chain_id","sender","reference");--> statement-breakpoint
CREATE INDEX "sender_transaction_open" ON "ahs"."sender_transaction" USING btree ("chain_id","sender","id") WHERE final = false and state <> 'failed';--> statement-breakpoint
CREATE INDEX "sender_transaction_spent" ON "ahs"."sender_transaction" USING btree ("chain_id","purpose","created_at");--> statement-breakpoint
CREATE INDEX "registry_agent_wallet" ON "ahs"."registry_agent" USING btree ("chain_id","wallet");--> statement-breakpoint
CREATE UNIQUE INDEX "scan_run_nightly" ON "ahs"."scan_run" USING btree ("chain_id","night") WHERE cause = 'nightly';--> statement-breakpoint
CREATE INDEX "scan_run_newest" ON "ahs"."scan_run" USING btree ("chain_id","started_at" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "current_score_wallet" ON "ahs"."current_score" USING btree ("chain_id","wallet");--> statement-breakpoint
CREATE INDEX "current_score_score" ON "ahs"."current_score" USING btree ("score_id");--> statement-breakpoint
CREATE INDEX "current_score_distribution" ON "ahs"."current_score" USING btree ("chain_id","ahs_score");--> statement-breakpoint
CREATE INDEX "current_score_rank" ON "ahs"."current_score" USING btree ("chain_id","ahs_score" DESC NULLS LAST,"confidence_micros" DESC NULLS LAST,"wallet") WHERE ahs_score is not null;--> statement-breakpoint
CREATE INDEX "score_latest" ON "ahs"."score" USING btree ("chain_id","wallet","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "score_once" ON "ahs"."score" USING btree ("chain_id","wallet","inputs_hash");--> statement-breakpoint
CREATE INDEX "score_cut" ON "ahs"."score" USING btree ("chain_id","id") WHERE coverage ->> 'newestCallsOnly' = 'true';--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_interest_wallet" ON "ahs"."wallet_interest" USING btree ("chain_id","wallet");--> statement-breakpoint
CREATE INDEX "hold_clock_chain" ON "ahs"."hold_clock" USING btree ("chain_id");--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_terminal" ON "ahs"."settlement" USING btree ("chain_id","escrow","job_id") WHERE "ahs"."settlement"."decision" <> 'HOLD';--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_run" ON "ahs"."settlement" USING btree ("verdict_id","run");--> statement-breakpoint
CREATE INDEX "settlement_open" ON "ahs"."settlement" USING btree ("chain_id","id") WHERE "ahs"."settlement"."state" = 'signed';--> statement-breakpoint
CREATE INDEX "settlement_check_due" ON "ahs"."settlement_check" USING btree ("chain_id","not_before") WHERE "ahs"."settlement_check"."not_before" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "held_evidence_once" ON "ahs"."held_evidence" USING btree ("verdict_id","text_hash");--> statement-breakpoint
CREATE INDEX "held_evidence_texts" ON "ahs"."held_evidence" USING btree ("created_at") WHERE "ahs"."held_evidence"."text" is not null;--> statement-breakpoint
CREATE INDEX "job_spec_job" ON "ahs"."job_spec" USING btree ("job_chain_id","job_escrow","job_id","created_at");--> statement-breakpoint
CREATE INDEX "job_spec_texts" ON "ahs"."job_spec" USING btree ("created_at") WHERE "ahs"."job_spec"."spec_text" is not null;--> statement-breakpoint
CREATE INDEX "output_text_created" ON "ahs"."output_text" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "role_call_created" ON "ahs"."role_call" USING btree ("created_at","prompt_tokens","completion_tokens");--> statement-breakpoint
CREATE UNIQUE INDEX "verdict_slot" ON "ahs"."verdict" USING btree ("slot") WHERE "ahs"."verdict"."replaced_at" is null;--> statement-breakpoint
CREATE INDEX "verdict_due" ON "ahs"."verdict" USING btree ("status","not_before");--> statement-breakpoint
CREATE INDEX "verdict_spec" ON "ahs"."verdict" USING btree ("spec_id");--> statement-breakpoint
CREATE INDEX "verdict_job" ON "ahs"."verdict" USING btree ("job_chain_id","job_escrow","job_id");--> statement-breakpoint
CREATE INDEX "verdict_debit" ON "ahs"."verdict" USING btree ("debit_id") WHERE "ahs"."verdict"."debit_id" is not null;--> statement-breakpoint
CREATE INDEX "verdict_payment" ON "ahs"."verdict" USING btree ("payment_id") WHERE "ahs"."verdict"."payment_id" is not null;--> statement-breakpoint
CREATE INDEX "verdict_endpoint" ON "ahs"."verdict" USING btree ("endpoint_id") WHERE "ahs"."verdict"."endpoint_id" is not null;--> statement-breakpoint
CREATE INDEX "verdict_run_evidence" ON "ahs"."verdict_run" USING btree ("evidence_hash");
