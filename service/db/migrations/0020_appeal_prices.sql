UPDATE "ahs"."appeal" SET "units" = 500 WHERE "units" IS NULL;--> statement-breakpoint
ALTER TABLE "ahs"."appeal" ALTER COLUMN "units" SET NOT NULL;