CREATE TABLE "ahs"."feedback" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."feedback_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"registry" text NOT NULL,
	"client" text NOT NULL,
	"agent_id" numeric NOT NULL,
	"kind" text NOT NULL,
	"wallet" text NOT NULL,
	"label" text NOT NULL,
	"feedback_index" bigint,
	"document" text,
	"document_hash" text,
	"state" text NOT NULL,
	"sender_transaction_id" bigint NOT NULL,
	"error" text,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "feedback_agent" ON "ahs"."feedback" USING btree ("chain_id","registry","client","agent_id","id" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "feedback_one_sent" ON "ahs"."feedback" USING btree ("chain_id","registry","client","agent_id") WHERE state = 'sent';--> statement-breakpoint
CREATE INDEX "feedback_document" ON "ahs"."feedback" USING btree ("document_hash");--> statement-breakpoint
CREATE INDEX "feedback_transaction" ON "ahs"."feedback" USING btree ("sender_transaction_id");