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
ALTER TABLE "ahs"."held_evidence" ADD CONSTRAINT "held_evidence_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."hold_clock" ADD CONSTRAINT "hold_clock_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."output_text" ADD CONSTRAINT "output_text_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."role_call" ADD CONSTRAINT "role_call_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."settlement" ADD CONSTRAINT "settlement_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."settlement_check" ADD CONSTRAINT "settlement_check_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."verdict" ADD CONSTRAINT "verdict_spec_id_job_spec_id_fk" FOREIGN KEY ("spec_id") REFERENCES "ahs"."job_spec"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."verdict" ADD CONSTRAINT "verdict_endpoint_id_webhook_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "ahs"."webhook_endpoint"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ahs"."verdict_run" ADD CONSTRAINT "verdict_run_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "held_evidence_once" ON "ahs"."held_evidence" USING btree ("verdict_id","text_hash");--> statement-breakpoint
CREATE INDEX "held_evidence_texts" ON "ahs"."held_evidence" USING btree ("created_at") WHERE "ahs"."held_evidence"."text" is not null;--> statement-breakpoint
CREATE INDEX "hold_clock_chain" ON "ahs"."hold_clock" USING btree ("chain_id");--> statement-breakpoint
CREATE INDEX "job_spec_job" ON "ahs"."job_spec" USING btree ("job_chain_id","job_escrow","job_id","created_at");--> statement-breakpoint
CREATE INDEX "job_spec_texts" ON "ahs"."job_spec" USING btree ("created_at") WHERE "ahs"."job_spec"."spec_text" is not null;--> statement-breakpoint
CREATE INDEX "output_text_created" ON "ahs"."output_text" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "role_call_created" ON "ahs"."role_call" USING btree ("created_at","prompt_tokens","completion_tokens");--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_terminal" ON "ahs"."settlement" USING btree ("chain_id","escrow","job_id") WHERE "ahs"."settlement"."decision" <> 'HOLD';--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_run" ON "ahs"."settlement" USING btree ("verdict_id","run");--> statement-breakpoint
CREATE INDEX "settlement_open" ON "ahs"."settlement" USING btree ("chain_id","id") WHERE "ahs"."settlement"."state" = 'signed';--> statement-breakpoint
CREATE INDEX "settlement_check_due" ON "ahs"."settlement_check" USING btree ("chain_id","not_before") WHERE "ahs"."settlement_check"."not_before" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "verdict_slot" ON "ahs"."verdict" USING btree ("slot") WHERE "ahs"."verdict"."replaced_at" is null;--> statement-breakpoint
CREATE INDEX "verdict_due" ON "ahs"."verdict" USING btree ("status","not_before");--> statement-breakpoint
CREATE INDEX "verdict_spec" ON "ahs"."verdict" USING btree ("spec_id");--> statement-breakpoint
CREATE INDEX "verdict_job" ON "ahs"."verdict" USING btree ("job_chain_id","job_escrow","job_id");--> statement-breakpoint
CREATE INDEX "verdict_debit" ON "ahs"."verdict" USING btree ("debit_id") WHERE "ahs"."verdict"."debit_id" is not null;--> statement-breakpoint
CREATE INDEX "verdict_payment" ON "ahs"."verdict" USING btree ("payment_id") WHERE "ahs"."verdict"."payment_id" is not null;--> statement-breakpoint
CREATE INDEX "verdict_endpoint" ON "ahs"."verdict" USING btree ("endpoint_id") WHERE "ahs"."verdict"."endpoint_id" is not null;--> statement-breakpoint
CREATE INDEX "verdict_run_evidence" ON "ahs"."verdict_run" USING btree ("evidence_hash");