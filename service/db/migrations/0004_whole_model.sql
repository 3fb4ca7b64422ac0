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
	CONSTRAINT "own_call_chain_id_wallet_block_transaction_index_position_pk" PRIMARY KEY("chain_id","wallet","block","transaction_index","position")
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
CREATE TABLE "ahs"."enrolment" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"state" text NOT NULL,
	"sender_transaction_id" bigint,
	"attempts" integer DEFAULT 0 NOT NULL,
	"detail" text,
	"requested_at" timestamp with time zone NOT NULL,
	"not_before" timestamp with time zone,
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
	CONSTRAINT "agent_document_chain_id_agent_id_pk" PRIMARY KEY("chain_id","agent_id")
);
--> statement-breakpoint
CREATE TABLE "ahs"."probe" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."probe_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"endpoint" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"outcome" text NOT NULL,
	"status" integer,
	"latency_ms" integer,
	"valid" boolean,
	"detail" text
);
--> statement-breakpoint
CREATE TABLE "ahs"."probe_schedule" (
	"chain_id" integer NOT NULL,
	"endpoint" text NOT NULL,
	"kind" text NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	CONSTRAINT "probe_schedule_chain_id_endpoint_pk" PRIMARY KEY("chain_id","endpoint")
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
ALTER TABLE "ahs"."current_score" ADD COLUMN "level_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ahs"."score" ADD COLUMN "level_until" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "contact_account" ON "ahs"."contact" USING btree ("chain_id","account");--> statement-breakpoint
CREATE INDEX "own_call_hash" ON "ahs"."own_call" USING btree ("chain_id","hash");--> statement-breakpoint
CREATE INDEX "enrolment_state" ON "ahs"."enrolment" USING btree ("chain_id","state");--> statement-breakpoint
CREATE INDEX "agent_document_due" ON "ahs"."agent_document" USING btree ("chain_id","not_before");--> statement-breakpoint
CREATE INDEX "probe_endpoint" ON "ahs"."probe" USING btree ("chain_id","endpoint","at");--> statement-breakpoint
CREATE INDEX "probe_schedule_next" ON "ahs"."probe_schedule" USING btree ("chain_id","next_at");