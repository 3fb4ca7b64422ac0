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
ALTER TABLE "ahs"."enrolment" ADD COLUMN "cause" text DEFAULT 'paid' NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."agent_document" ADD COLUMN "scanned_hash" text;--> statement-breakpoint
ALTER TABLE "ahs"."alert_subscription" ADD COLUMN "thresholds" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
CREATE INDEX "agent_document_name" ON "ahs"."agent_document" USING btree ("chain_id",lower(left(name, 64)) text_pattern_ops,"agent_id");--> statement-breakpoint
CREATE INDEX "registry_agent_wallet" ON "ahs"."registry_agent" USING btree ("chain_id","wallet");--> statement-breakpoint
CREATE UNIQUE INDEX "scan_run_nightly" ON "ahs"."scan_run" USING btree ("chain_id","night") WHERE cause = 'nightly';--> statement-breakpoint
CREATE INDEX "scan_run_newest" ON "ahs"."scan_run" USING btree ("chain_id","started_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "alert_subscription_expiry" ON "ahs"."alert_subscription" USING btree ("expires_at") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "webhook_event_failing" ON "ahs"."webhook_event" USING btree ("endpoint_id") WHERE state = 'pending' and attempts > 0;--> statement-breakpoint
CREATE INDEX "current_score_rank" ON "ahs"."current_score" USING btree ("chain_id","ahs_score" DESC NULLS LAST,"confidence_micros" DESC NULLS LAST,"wallet") WHERE ahs_score is not null;