CREATE TABLE "ahs"."validation_request" (
	"chain_id" integer NOT NULL,
	"registry" text NOT NULL,
	"request_hash" text NOT NULL,
	"agent_id" numeric NOT NULL,
	"request_uri" text NOT NULL,
	"block" bigint NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"not_before" timestamp with time zone,
	"response" integer,
	"document" text,
	"document_hash" text,
	"sender_transaction_id" bigint,
	"sent_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "validation_request_chain_id_registry_request_hash_pk" PRIMARY KEY("chain_id","registry","request_hash")
);
--> statement-breakpoint
CREATE INDEX "validation_request_state" ON "ahs"."validation_request" USING btree ("chain_id","registry","state","block");--> statement-breakpoint
CREATE INDEX "validation_request_sent" ON "ahs"."validation_request" USING btree ("chain_id","registry","sent_at");--> statement-breakpoint
CREATE INDEX "validation_request_document" ON "ahs"."validation_request" USING btree ("document_hash");