CREATE TABLE "ahs"."enrich_approval" (
	"chain_id" integer NOT NULL,
	"block" bigint NOT NULL,
	"log_index" integer NOT NULL,
	"transaction_hash" text NOT NULL,
	"timestamp" bigint NOT NULL,
	"token" text NOT NULL,
	"kind" text NOT NULL,
	"owner" text NOT NULL,
	"spender" text NOT NULL,
	"amount" numeric,
	"token_id" numeric,
	"approved" boolean NOT NULL,
	"sender" text,
	CONSTRAINT "enrich_approval_chain_id_block_log_index_pk" PRIMARY KEY("chain_id","block","log_index")
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
CREATE TABLE "ahs"."enrich_call" (
	"chain_id" integer NOT NULL,
	"hash" text NOT NULL,
	"block" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"wallet" text NOT NULL,
	"l1_fee_wei" numeric,
	"logs" integer NOT NULL,
	"emitters" text[] NOT NULL,
	"outside_emitters" text[] NOT NULL,
	"approvals" integer NOT NULL,
	CONSTRAINT "enrich_call_chain_id_hash_pk" PRIMARY KEY("chain_id","hash")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_cursor" (
	"chain_id" integer PRIMARY KEY NOT NULL,
	"block" bigint NOT NULL,
	"block_hash" text NOT NULL
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
CREATE INDEX "enrich_approval_owner" ON "ahs"."enrich_approval" USING btree ("chain_id","owner","block","log_index");--> statement-breakpoint
CREATE INDEX "enrich_call_wallet" ON "ahs"."enrich_call" USING btree ("chain_id","wallet","block");--> statement-breakpoint
CREATE INDEX "enrich_transfer_from" ON "ahs"."enrich_transfer" USING btree ("chain_id","from","block");--> statement-breakpoint
CREATE INDEX "enrich_transfer_to" ON "ahs"."enrich_transfer" USING btree ("chain_id","to","block");--> statement-breakpoint
CREATE INDEX "enrich_user_operation_wallet" ON "ahs"."enrich_user_operation" USING btree ("chain_id","wallet","block");--> statement-breakpoint
CREATE INDEX "enrich_wallet_past" ON "ahs"."enrich_wallet" USING btree ("chain_id","past_next") WHERE past_next is not null;