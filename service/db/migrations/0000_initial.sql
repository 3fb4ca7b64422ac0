CREATE SCHEMA IF NOT EXISTS "ahs";
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
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_key_keyHash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
CREATE TABLE "ahs"."key_debit" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"endpoint" text NOT NULL,
	"units" bigint NOT NULL,
	"state" text NOT NULL,
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
	"sanctioned" boolean NOT NULL
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
ALTER TABLE "ahs"."key_debit" ADD CONSTRAINT "key_debit_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "ahs"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."publish_intent" ADD CONSTRAINT "publish_intent_score_id_score_id_fk" FOREIGN KEY ("score_id") REFERENCES "ahs"."score"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."current_score" ADD CONSTRAINT "current_score_score_id_score_id_fk" FOREIGN KEY ("score_id") REFERENCES "ahs"."score"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "key_debit_state" ON "ahs"."key_debit" USING btree ("state","deadline");--> statement-breakpoint
CREATE UNIQUE INDEX "publish_intent_one_pending" ON "ahs"."publish_intent" USING btree ("chain_id","wallet") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "publish_intent_state" ON "ahs"."publish_intent" USING btree ("chain_id","state","id");--> statement-breakpoint
CREATE INDEX "publish_intent_wallet" ON "ahs"."publish_intent" USING btree ("chain_id","wallet","id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "publish_intent_transaction" ON "ahs"."publish_intent" USING btree ("sender_transaction_id");--> statement-breakpoint
CREATE UNIQUE INDEX "sender_transaction_nonce" ON "ahs"."sender_transaction" USING btree ("chain_id","sender","nonce");--> statement-breakpoint
CREATE UNIQUE INDEX "sender_transaction_reference" ON "ahs"."sender_transaction" USING btree ("chain_id","sender","reference");--> statement-breakpoint
CREATE INDEX "sender_transaction_open" ON "ahs"."sender_transaction" USING btree ("chain_id","sender","id") WHERE final = false and state <> 'failed';--> statement-breakpoint
CREATE INDEX "sender_transaction_spent" ON "ahs"."sender_transaction" USING btree ("chain_id","purpose","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "current_score_wallet" ON "ahs"."current_score" USING btree ("chain_id","wallet");--> statement-breakpoint
CREATE INDEX "score_latest" ON "ahs"."score" USING btree ("chain_id","wallet","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "score_once" ON "ahs"."score" USING btree ("chain_id","wallet","inputs_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "wallet_interest_wallet" ON "ahs"."wallet_interest" USING btree ("chain_id","wallet");