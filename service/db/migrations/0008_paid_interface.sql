CREATE TABLE "ahs"."alert_subscription" (
	"id" uuid PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"owner" text NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"events" text[] NOT NULL,
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
CREATE TABLE "ahs"."key_credit" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"units" bigint NOT NULL,
	"created_at" timestamp with time zone NOT NULL
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
CREATE TABLE "ahs"."routing_policy" (
	"owner" text PRIMARY KEY NOT NULL,
	"policy" jsonb NOT NULL,
	"version" text NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
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
ALTER TABLE "ahs"."api_key" ADD COLUMN "bought_by" text;--> statement-breakpoint
ALTER TABLE "ahs"."key_debit" ADD COLUMN "repeat" text;--> statement-breakpoint
ALTER TABLE "ahs"."alert_subscription" ADD CONSTRAINT "alert_subscription_endpoint_id_webhook_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "ahs"."webhook_endpoint"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."webhook_attempt" ADD CONSTRAINT "webhook_attempt_event_id_webhook_event_id_fk" FOREIGN KEY ("event_id") REFERENCES "ahs"."webhook_event"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."webhook_event" ADD CONSTRAINT "webhook_event_endpoint_id_webhook_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "ahs"."webhook_endpoint"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."webhook_event" ADD CONSTRAINT "webhook_event_subscription_id_alert_subscription_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "ahs"."alert_subscription"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."key_credit" ADD CONSTRAINT "key_credit_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "ahs"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_key_bought_by" ON "ahs"."api_key" USING btree ("bought_by");--> statement-breakpoint
CREATE INDEX "key_debit_kept" ON "ahs"."key_debit" USING btree ("key_id","created_at") WHERE "ahs"."key_debit"."state" = 'kept';--> statement-breakpoint
CREATE INDEX "key_debit_repeat" ON "ahs"."key_debit" USING btree ("key_id","repeat") WHERE "ahs"."key_debit"."repeat" is not null;--> statement-breakpoint
CREATE INDEX "alert_subscription_wallet" ON "ahs"."alert_subscription" USING btree ("chain_id","wallet","expires_at");--> statement-breakpoint
CREATE INDEX "alert_subscription_owner" ON "ahs"."alert_subscription" USING btree ("owner","wallet");--> statement-breakpoint
CREATE INDEX "webhook_attempt_event" ON "ahs"."webhook_attempt" USING btree ("event_id","at");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_event_once" ON "ahs"."webhook_event" USING btree ("endpoint_id","dedupe_key");--> statement-breakpoint
CREATE INDEX "webhook_event_due" ON "ahs"."webhook_event" USING btree ("state","not_before");--> statement-breakpoint
CREATE INDEX "webhook_event_subscription" ON "ahs"."webhook_event" USING btree ("subscription_id","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "idempotent_answer_expires" ON "ahs"."idempotent_answer" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_in_nonce_expires" ON "ahs"."sign_in_nonce" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_authorization" ON "ahs"."payment" USING btree ("chain_id","asset","payer","nonce");--> statement-breakpoint
CREATE INDEX "payment_state" ON "ahs"."payment" USING btree ("state","deadline");--> statement-breakpoint
CREATE INDEX "payment_payer" ON "ahs"."payment" USING btree ("payer","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "payment_claim" ON "ahs"."payment" USING btree ("claim_hash");--> statement-breakpoint
CREATE INDEX "payment_confirm" ON "ahs"."payment" USING btree ("confirm_at") WHERE "ahs"."payment"."confirm_at" is not null;--> statement-breakpoint
CREATE INDEX "payment_answer" ON "ahs"."payment" USING btree ("answered_at") WHERE "ahs"."payment"."answer_body" is not null;--> statement-breakpoint
CREATE INDEX "account_fact_funder" ON "ahs"."account_fact" USING btree ("chain_id","first_funder","address");--> statement-breakpoint
CREATE INDEX "account_fact_creator" ON "ahs"."account_fact" USING btree ("chain_id","creator","address");--> statement-breakpoint
CREATE INDEX "current_score_distribution" ON "ahs"."current_score" USING btree ("chain_id","ahs_score");