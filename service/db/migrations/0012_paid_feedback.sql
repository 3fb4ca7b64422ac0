CREATE TABLE "ahs"."paid_feedback" (
	"chain_id" integer NOT NULL,
	"registry" text NOT NULL,
	"agent_id" numeric NOT NULL,
	"client" text NOT NULL,
	"feedback_index" numeric NOT NULL,
	"wallet" text NOT NULL,
	"block" bigint NOT NULL,
	"value" numeric NOT NULL,
	"tag" text NOT NULL,
	"paid" numeric NOT NULL,
	CONSTRAINT "paid_feedback_pk" PRIMARY KEY("chain_id","registry","agent_id","client","feedback_index")
);
